"""The standing proof against kills.

``fit``, ``bench`` and ``simulate`` are killed before every change of a file and at random moments, by
SIGKILL, SIGINT and SIGTERM, and run again; at random moments they are killed again and again. The
result must be that of a run in peace, bit for bit.
"""

import json
import random
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from typing import Any

from trust.killing import Command, Kill, Reference, Trial, run_in_peace, trials_of
from trust.promises import Promise

TITLE = "Killed and resumed"
SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
COUNT, SHORT_COUNT = 200, 4
AGAIN = 10  # a resumed command is killed again, so often
ROWS = 60


def read_model(folder: Path) -> dict[str, bytes]:
    """Return the files of a model."""
    return {path.name: path.read_bytes() for path in (folder / "m").iterdir()}


def model_digest(folder: Path) -> set[bytes]:
    """Return one digest of a whole model, or none if there is no model."""
    if not (folder / "m").exists():
        return set()
    return {sha256(repr(sorted(read_model(folder).items())).encode()).digest()}


def finished_lines(folder: Path) -> set[bytes]:
    """Return the complete lines of a results file, with the seconds that each fit took."""
    path = folder / "rows.jsonl"
    lines = path.read_bytes().splitlines(True) if path.exists() else []
    return {line for line in lines if line.endswith(b"\n")}


def read_results(folder: Path) -> list[dict[str, Any]]:
    """Return rows of results without their times."""
    rows = map(json.loads, (folder / "rows.jsonl").read_text().splitlines())
    return [{name: row[name] for name in row if name != "seconds"} for row in rows]


def read_simulation(folder: Path) -> dict[str, bytes]:
    """Return the files of a simulated data set."""
    paths = (folder / "p" / f"material_1.{suffix}" for suffix in ("npz", "json"))
    return {path.name: path.read_bytes() for path in paths if path.exists()}


def finished_simulation(folder: Path) -> set[bytes]:
    """Return the files of a simulated data set that are there under their own names."""
    return set(read_simulation(folder).values())


def commands(parent: Path, *, with_fit: bool) -> list[Command]:
    """Return the commands that keep something to resume from; ``fit`` replaces a model."""
    bench = "bench truth --problems tiny-linear --methods GP --seeds 4 --jobs 1 --out rows.jsonl"
    simulate = "simulate plasticity --train 6 --test 1 --sves 2 --grid 8 --steps 6 --workers 2 --out p"
    fit = "fit rows.csv --target strength_MPa --effort quick --rounds 1 --hold-out 0 --resume --out m"
    (empty := parent / "empty").mkdir()
    found = [
        Command("bench", bench, read_results, finished_lines, empty),
        Command("simulate", simulate, read_simulation, finished_simulation, empty),
    ]
    if with_fit:
        found.append(Command("fit", fit, read_model, model_digest, rows_and_model(parent, fit)))
    return found


def rows_and_model(parent: Path, fit: str) -> Path:
    """Return a folder with rows to fit and another model of them."""
    from examples.alloys import alloys

    (rows := parent / "rows").mkdir()
    alloys(ROWS).to_csv(rows / "rows.csv", index=False)
    other = Command("fit", f"{fit} --seed 1", read_model, model_digest, rows)
    for name, content in run_in_peace(other, parent).result.items():
        (rows / "m").mkdir(exist_ok=True)
        (rows / "m" / name).write_bytes(content)
    return rows


def kill_at_changes(command: Command, parent: Path, reference: Reference, most: int) -> list[Trial]:
    """Kill a command before its first change of a file, before its second, and so on."""
    trials: list[Trial] = []
    while len(trials) < most:
        number = len(trials)
        (one,) = trials_of(command, parent, reference, [Kill(f"change {number}", change=number)])
        if not one.hit:  # there was no such change
            break
        trials.append(one)
    return trials


def random_kills(chance: random.Random, seconds: float, number: int) -> Iterator[Kill]:
    """Yield kills at random moments of a command that takes so many seconds."""
    for _ in range(number):
        yield Kill(chance.choice(SIGNALS).name, chance.uniform(0, seconds))


def run(count: int, seed: int, *, short: bool) -> tuple[list[Trial], dict[str, float]]:
    """Kill commands ``count`` times before their end; return also the seconds of each in peace."""
    chance, trials = random.Random(seed), list[Trial]()
    with tempfile.TemporaryDirectory() as name:
        parent = Path(name)
        chosen = commands(parent, with_fit=not short)
        references = {one.name: run_in_peace(one, parent) for one in chosen}
        for command in chosen:
            most = 1 if short else count
            trials += kill_at_changes(command, parent, references[command.name], most)
        # A moment may be after the end, so that a command is killed less often than tried.
        for command in cycle(chosen):
            left = count - sum(one.hit for one in trials)
            if left <= 0:
                break
            reference = references[command.name]
            kills = random_kills(chance, reference.seconds, min(left, AGAIN))
            trials += trials_of(command, parent, reference, kills)
    return trials, {name: round(one.seconds, 1) for name, one in references.items()}


def promises_of(trials: list[Trial]) -> list[Promise]:
    """Return what the trials show."""
    outcomes = Counter(one.outcome for one in trials)
    hits = sum(one.hit for one in trials)
    bad = "; ".join(name for name in outcomes if name != "identical")
    stopped = [one for one in trials if one.how == "SIGINT"]
    tracebacks = sum("Traceback" in one.complaint for one in stopped)
    return [
        Promise(
            "A killed command, run again, gives the same bits, loses nothing and leaves no file",
            f"{outcomes['identical']} of {len(trials)}, {hits} killed before their end. {bad}".strip(),
            outcomes["identical"] == len(trials),
        ),
        Promise(
            "Ctrl-C prints no traceback, from the first moment to the last",
            f"{tracebacks} tracebacks of {len(stopped)}",
            tracebacks == 0,
        ),
    ]


def prove(*, short: bool, seed: int = 0) -> tuple[list[Promise], dict[str, Any]]:
    """Kill commands 200 times; in short four times, without ``fit``."""
    trials, seconds = run(SHORT_COUNT if short else COUNT, seed, short=short)
    counts = Counter(
        (
            one.command,
            "SIGKILL before a change of a file" if one.how.startswith("change") else one.how,
            "yes" if one.hit else "no",
            one.outcome,
        )
        for one in trials
    )
    columns = ("command", "killed by", "before its end", "outcome", "number")
    rows = [dict(zip(columns, (*key, number), strict=True)) for key, number in counts.items()]
    printed = sorted({one.complaint.strip() for one in trials if "Traceback" in one.complaint})
    return promises_of(trials), {"table": rows, "seconds": seconds, "tracebacks": printed}
