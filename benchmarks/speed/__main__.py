"""``python -m benchmarks.speed``: measure everything, print it, and write the page.

Takes about 50 minutes. ``--only fleet,growth`` measures these parts again, and leaves the others on
the page as they are; no figure depends on two parts. ``--against FOLDER`` compares this checkout with
another one, in about five minutes, and writes nothing.
"""

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from benchmarks.speed import ablation, against, alone, large, page, results, scaling
from benchmarks.speed.cases import CASES, CONCRETE, IMAGES, STEPS
from benchmarks.speed.programs import CORES, LOADER, TENSORS, UQ_BOX, VEBNN, of_steps
from benchmarks.speed.results import Claim, sheet, short
from benchmarks.speed.timing import Timing, measure
from benchmarks.speed.workers import Program, held_to
from vebnn.bench.render.sheet import Document, Sheet
from vebnn.bench.render.terminal import print_document

REPEATS = 7
FLEET = 20
MEMBERS = 5
WHOLE = CASES[:4]  # a larger GRU would only take longer
SHARE = 0.1  # of the epochs of a whole fit that would take too long

Measured = tuple[list[Claim], list[Sheet]]


def steps(console: Console) -> Measured:
    """Time single steps on one core, and on all."""
    jobs = [(case, step) for case in CASES for step in STEPS]
    sheets, claims = [], []
    for cores in sorted({1, CORES}):
        timings = measure(of_steps(cores), jobs, REPEATS, console)
        sheets.append(results.of_steps(timings, cores))
        claims += results.step_claims(timings) if cores == 1 else []
        results.print_missing(timings, console)
    return claims, sheets


def images(console: Console) -> Measured:
    """Time training steps of small residual networks on one core."""
    programs = [Program(VEBNN, "ours:steps", 1), Program(TENSORS, "torch_way:with_tensors", 1)]
    timings = measure(programs, [(case, 1) for case in IMAGES], REPEATS, console)
    results.print_missing(timings, console)
    return results.image_claims(timings), [results.of_images(timings)]


def fleet(console: Console) -> Measured:
    """Time many runs on all cores and on one, and the most that the machine can do."""
    rows, gains = [], {}
    one, every = "one core", f"{CORES} cores"
    for jobs, name, repeats in (
        ("ours:splits", "a process per core, as vebnn bench has it, time of all", REPEATS),
        # These two are close, and the noise of the machine exceeds their difference.
        ("ours:fleet", "one program for all, time of a step", 3 * REPEATS),
        ("floor:splits", "only matrix products, in NumPy, a process per core", 3 * REPEATS),
    ):
        programs = [Program(one, jobs, 1), Program(every, jobs, CORES)]
        (timing,) = measure(programs, [(CONCRETE, FLEET)], repeats, console)
        gains[jobs] = timing.seconds[one] / timing.seconds[every]
        times = (short(timing.seconds[where]) for where in (one, every))
        rows.append([name, *times, f"{gains[jobs]:.2f}"])
    text = f"{FLEET} splits {{}}: throughput of {CORES} cores over that of one"
    claims = [
        Claim(text.format("as a fleet"), gains["ours:fleet"], 1.8),
        Claim(text.format("as vebnn bench runs them"), gains["ours:splits"], 1.8),
    ]
    caption = (
        f"{FLEET} runs on the sizes of Concrete; medians of {REPEATS} (first line) or {3 * REPEATS}. "
        "The last line is the most that the machine can do."
    )
    columns = ("", one, every, "throughput")
    return claims, [sheet("Many runs", caption, columns, rows)]


def fits(console: Console) -> Measured:
    """Time whole fits."""
    timings = _whole_fits(console)
    results.print_missing(timings, console)
    default = [
        Program("vebnn's default fit, all cores", "ours:default_fit", CORES),
        Program("NGBoost's default fit", "libraries:ngboost", CORES),
    ]
    (timing,) = measure(default, [(CONCRETE,)], 2, console)
    rows = [[name, short(seconds)] for name, seconds in timing.seconds.items()]
    deep = [
        Program(f"step of a member, deep ensemble of {MEMBERS}", "ours:ensemble", 1),
        Program(f"the same, {UQ_BOX}", "libraries:lightning_ensemble", 1),
    ]
    (timing,) = measure(deep, [(CONCRETE, MEMBERS)], 2, console)
    rows += [[name, short(seconds)] for name, seconds in timing.seconds.items()]
    caption = "On the sizes of Concrete."
    return results.fit_claims(timings), [
        results.of_fits(timings, SHARE),
        sheet("Default fits, and ensembles", caption, ("", "time"), rows),
    ]


def _whole_fits(console: Console) -> list[Timing]:
    shares = [1 if case.experiment == "uci" else SHARE for case in WHOLE]
    mine = [Program(VEBNN, "ours:whole_fit", 1)]
    theirs = [
        Program(LOADER, "torch_fit:with_loader", 1),
        Program(TENSORS, "torch_fit:with_tensors", 1),
    ]
    quick = measure(mine, list(zip(WHOLE, shares, strict=True)), 2, console)
    slow = measure(theirs, [(case, SHARE) for case in WHOLE], 1, console)
    return [
        Timing((case,), ours.seconds | others.seconds, others.missing)
        for case, ours, others in zip(WHOLE, quick, slow, strict=True)
    ]


def growth(console: Console) -> Measured:
    """Time how costs grow, in a process pinned to one core."""
    with console.status("growth"), held_to(1), multiprocessing.get_context("spawn").Pool(1) as pool:
        curves = pool.apply(scaling.curves, (3,))
    page.draw(curves)
    return results.growth_claims(curves), [results.of_curves(curves)]


def fresh(console: Console) -> Measured:
    """Measure memory and first fits, in fresh processes."""
    with tempfile.TemporaryDirectory() as cache, console.status("a million rows, cold start"):
        environment = os.environ | {"VEBNN_COMPILATION_CACHE": cache}
        million = alone.run("million", environment)
        starts = {name: alone.run("start", environment) for name in ("cold cache", "warm cache")}
    names = list(starts["cold cache"])
    cold = [[name, *(short(found[name]) for found in starts.values())] for name in names]
    rows = [
        ["the rows themselves, in NumPy, and vebnn imported", "", f"{million['start_gib']:.2f} GiB"],
        ["fit: 2 epochs of Steps 1 and 2, 10 chains of 15 epochs", short(million["fit"]),
         f"{million['fit_gib']:.2f} GiB"],
        ["predict with 150 draws", short(million["predict"]), f"{million['predict_gib']:.2f} GiB"],
    ]  # fmt: skip
    title, text = "A million rows of 20 features", "Predicting 10⁶ rows with 150 draws: peak GiB"
    return [Claim(text, million["predict_gib"], 2, at_least=False)], [
        sheet(title, "Peak memory of the process.", ("", "time", "memory"), rows),
        sheet("Starting", "1,000 rows of 10 features, default settings.", ("", *starts), cold),
    ]


def large_tables(console: Console) -> Measured:
    """Compare default fits of large tables; what has a row is not measured again."""
    with console.status("large tables"):
        large.measure_missing()
    return [], [large.as_sheet()]


def routines(console: Console) -> Measured:
    """Time the library's own routines against JAX's; each pair of processes swaps one routine."""
    timings = []
    for (routine, cores), jobs in ablation.JOBS.items():
        programs = [
            Program(ablation.OURS, "ablation:own", cores),
            Program(ablation.JAX, "ablation:replaced", cores),
        ]
        wanted = [(routine, cores, *job) for job in jobs]
        timings += measure(programs, wanted, 2 * REPEATS, console)
    claims, table = ablation.of_timings(timings)
    return claims, [table]


PARTS: dict[str, Callable[[Console], Measured]] = {
    "steps": steps,
    "images": images,
    "fleet": fleet,
    "fits": fits,
    "growth": growth,
    "alone": fresh,
    "large": large_tables,
    "ablation": routines,
}


def _print_comparison(other: Path, console: Console) -> None:
    with console.status(f"this checkout and {other} in turn"):
        found = against.compare(other)
    rows = [[name, *map(short, times), f"{times[0] / times[1]:.2f}"] for name, times in found.items()]
    caption = f"Medians of {against.REPEATS} or, of starts, {against.STARTS}."
    columns = ("", "this checkout", str(other), "ratio")
    print_document(Document("Speed", [], [sheet("Before and after", caption, columns, rows)]), console)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    parser.add_argument("--against", type=Path, help="only compare with this checkout of vebnn")
    arguments = parser.parse_args()
    console = Console()
    if arguments.against is not None:
        if not (arguments.against / "src" / "vebnn").is_dir():
            parser.error(f"--against must be a checkout with src/vebnn. Got {arguments.against}.")
        _print_comparison(arguments.against, console)
        return
    wanted = arguments.only.split(",")
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"--only must name some of {', '.join(PARTS)}. Got {', '.join(sorted(unknown))}.")
    found = page.read_parts()
    for name in wanted:
        started = time.perf_counter()
        claims, sheets = PARTS[name](console)
        print_document(Document("Speed", [], sheets), console)
        minutes = (time.perf_counter() - started) / 60
        found[name] = page.Part(claims, sheets, minutes, page.machine())
    found = {name: found[name] for name in PARTS if name in found}
    print_document(Document("Speed", [], [results.of_claims(page.claims_of(found))]), console)
    page.write(found, REPEATS)


if __name__ == "__main__":
    main()
