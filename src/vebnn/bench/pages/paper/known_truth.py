"""The paper's tables and figures of data with a known truth: plasticity, and the toy example."""

from collections.abc import Callable, Sequence

import pandas

from vebnn.bench.experiments.toy import COLUMNS
from vebnn.bench.experiments.two_modes import COLUMNS as MODES
from vebnn.bench.pages.paper.evidence import (
    FAILS,
    PARTLY,
    Finding,
    Pair,
    Rows,
    compare,
    counted_wins,
    mark_of,
    presets_of,
    published_wins,
)
from vebnn.bench.results import Row
from vebnn.bench.steps import round_and_step
from vebnn.tabular.errors import counted

PLASTICITY, LOSS, LOSS_IN_SAMPLE = (
    "plasticity.jsonl",
    "plasticity-loss.jsonl",
    "plasticity-loss-in-sample.jsonl",
)
TRAJECTORY, SIZE = "plasticity-rounds.jsonl", "plasticity-size.jsonl"
PLACE = ("preset", "material", "num_paths")
MARGIN = 0.05  # of an advantage that is called clear
OURS = "VeBNN (pSGLD)"
CLOSE = 0.1  # nats, of a validation NLL


def plasticity_wins(
    pairs: Sequence[tuple[str, str]], fields: Sequence[str], paper: str, why: str = ""
) -> Callable[[Rows], Finding | None]:
    """Return whether ours is at least as good at every material and number of paths."""

    def find(folder: Rows) -> Finding | None:
        rows = folder.of(PLASTICITY)
        held = compare(rows, PLACE, "repeat", [Pair(*pair) for pair in pairs], fields)
        if not held:
            return None
        methods = {name for pair in pairs for name in pair}
        used = [row for row in rows if row["method"] in methods]
        most = max(row["num_paths"] for row in used)
        return Finding(
            f"{counted_wins(held)}, preset {presets_of(used)}, up to {most} paths",
            paper,
            mark_of(held),
            why,
        )

    return find


def epistemic_shrinks(folder: Rows) -> Finding | None:
    """Return whether the epistemic std of VeBNN falls with the number of paths."""
    return _falls(folder, "epistemic_std", "falls")


def calibration_improves(folder: Rows) -> Finding | None:
    """Return whether the epistemic calibration error of VeBNN falls with the number of paths."""
    return _falls(folder, "epistemic_calibration_error", "0.1352 at 50 paths, 0.0261 at 400")


def _falls(folder: Rows, field: str, paper: str) -> Finding | None:
    frame = pandas.DataFrame([row for row in folder.of(PLASTICITY) if row["method"] == OURS])
    if frame.empty:
        return None
    means = frame.groupby([*PLACE])[field].mean()
    held, said = [], []
    for (preset, material), some in means.groupby(level=[0, 1]):
        numbers = some.droplevel([0, 1])
        held += (numbers.diff().dropna() < 0).tolist()
        values = ", ".join(f"{value:.3f} ({size})" for size, value in numbers.items())
        said.append(f"preset {preset}, material {material}: {values}")
    if not held:
        return None
    shown = "; ".join(said)
    return Finding(shown, paper, mark_of(held))


def calibration_errors(folder: Rows) -> Finding | None:
    """Return whether the epistemic ECE of VeBNN is at most that of MVE, with pSGLD."""
    pair, field = Pair(OURS, "MVE (pSGLD)"), "epistemic_calibration_error"
    held = compare(folder.of(PLASTICITY), PLACE, "repeat", [pair], (field,))
    if not held:
        return None
    theirs = counted_wins(published_wins("tab:epistemic_ece", field, [pair]))
    return Finding(counted_wins(held), theirs, mark_of(held))


def gamma_wins(
    others: Sequence[str], fields: Sequence[str], label: str | None, margin: float = MARGIN
) -> Callable[[Rows], Finding | None]:
    """Return whether Step 2 with the Gamma likelihood is better than with other losses by a margin."""

    def find(folder: Rows) -> Finding | None:
        pairs, said, every = [Pair("Gamma", other) for other in others], [], []
        kinds = ((LOSS, "stopped by folds"), (LOSS_IN_SAMPLE, "in sample, as in the paper"))
        for file, words in kinds:
            held = compare(folder.of(file), PLACE, "repeat", pairs, fields, margin=margin)
            if held:
                said.append(f"{words}: {counted_wins(held)}")
                every += held
        if not every:
            return None
        paper = "everywhere"
        if label is not None:
            wins = [one for field in fields for one in published_wins(label, field, pairs, margin)]
            paper = counted_wins(wins)
        return Finding("; ".join(said), paper, mark_of(every), _differences(folder, others))

    return find


def _differences(folder: Rows, others: Sequence[str]) -> str:
    rows = pandas.DataFrame([row for row in folder.of(LOSS) if row["method"] in ("Gamma", *others)])
    if rows.empty:
        return ""
    means = rows.groupby("method")["wasserstein"].mean()
    numbers = ", ".join(f"{name} {value:.4f}" for name, value in means.items())
    return f"where held-out paths stop every loss, they hardly differ: mean WA {numbers}"


def energy_rounds(folder: Rows) -> Finding | None:
    """Return whether two rounds suffice, and an untrained Step 1 needs more but ends alike."""
    first = {row["variant"]: row["steps"] for row in folder.of("rounds.jsonl", "paper")}
    if not {"trained", "untrained"} <= first.keys():
        return None
    after = {name: _after_rounds(steps, "validation_nll") for name, steps in first.items()}
    trained, untrained = after["trained"], after["untrained"]
    held = [
        abs(trained[2] - trained[max(trained)]) <= CLOSE,
        _settled(untrained) > _settled(trained),
        abs(untrained[max(untrained)] - trained[max(trained)]) <= CLOSE,
    ]
    ours = (
        f"trained {trained[1]:.2f}, {trained[2]:.2f}, …, {trained[max(trained)]:.2f}; untrained "
        f"{untrained[1]:.2f}, {untrained[2]:.2f}, …, {untrained[max(untrained)]:.2f} (NLL after rounds)"
    )
    names = ("two rounds suffice", "an untrained Step 1 needs more", "both end alike")
    wrong = [name for name, holds in zip(names, held, strict=True) if not holds]
    why = f"within {CLOSE} nats it does not hold that {', '.join(wrong)}; one split" if wrong else ""
    return Finding(ours, "all three", mark_of(held) if not wrong else _worse(held), why)


def _worse(held: Sequence[bool]) -> str:
    """Return the mark of distinct claims, of which at least one fails."""
    return PARTLY if any(held) else FAILS


def _after_rounds(steps: Sequence[Row], field: str) -> dict[int, float]:
    named = ((round_and_step(one["step"]), one[field]) for one in steps)
    return {number: value for (number, step), value in named if step == 3}


def _settled(scores: dict[int, float]) -> int:
    """Return the first round whose score is close to the last one's."""
    last = scores[max(scores)]
    return min(number for number, score in scores.items() if abs(score - last) <= CLOSE)


def toy_wins(
    pairs: Sequence[tuple[str, str]], fields: Sequence[str]
) -> Callable[[Rows], Finding | None]:
    """Return whether ours is better on the one-dimensional example, with both presets."""

    def find(folder: Rows) -> Finding | None:
        said, every, seeds = [], [], set()
        for file, words in (("toy-methods.jsonl", "defaults"), ("toy-paper.jsonl", "preset paper")):
            rows = folder.of(file)
            held = _toy_compare(rows, [Pair(*pair) for pair in pairs], fields)
            if held:
                said.append(f"{words}: {counted_wins(held)}")
                every += held
                seeds |= {row["seed"] for row in rows}
        if not every:
            return None
        return Finding("; ".join(said), "everywhere", mark_of(every), _repeated(len(seeds), "seed"))

    return find


def _repeated(number: int, what: str) -> str:
    return f"{counted(number, what)} so far"


def _toy_compare(rows: Sequence[Row], pairs: Sequence[Pair], fields: Sequence[str]) -> list[bool]:
    """Compare errors, of which the smaller is better, and TLL, by means over the common seeds."""
    frame = pandas.DataFrame(rows)
    if frame.empty:
        return []
    held = []
    for ours, other in pairs:
        some = frame[frame["method"].isin([ours, other])]
        if some["method"].nunique() < 2:
            continue
        for field in fields:
            both = some.pivot(index="seed", columns="method", values=field).astype(float).dropna()
            if both.empty:
                continue
            sign = -1 if field.startswith("tll") else 1
            held.append(bool(sign * both[ours].mean() <= sign * both[other].mean()))
    return held


def sweep_wins(
    noise: str, others: Sequence[str], fields: Sequence[str]
) -> Callable[[Rows], Finding | None]:
    """Return whether VeBNN has the smaller errors at every number of points, by medians over seeds."""

    def find(folder: Rows) -> Finding | None:
        frame = pandas.DataFrame([row for row in folder.of("sweep.jsonl") if row["noise"] == noise])
        if frame.empty:
            return None
        places = frame.groupby(["preset", "num_rows", "method"])[list(fields)]
        medians = places.median().unstack("method")
        held = [
            bool(a <= b)
            for field in fields
            for other in others
            if {OURS, other} <= set(medians[field])
            for a, b in medians[field][[OURS, other]].dropna().to_numpy()
        ]
        if not held:
            return None
        words = f"{counted_wins(held)}, preset {presets_of(frame.to_dict('records'))}"
        return Finding(words, "everywhere", mark_of(held))

    return find


def trajectory(folder: Rows) -> Finding | None:
    """Return whether RMSE and WA hardly change after two rounds."""
    rows, fields = folder.of(TRAJECTORY), ("rmse_percent", "wasserstein")
    if not rows:
        return None
    held = []
    for row in rows:
        for field in fields:
            after = _after_rounds(row["steps"], field)
            held.append(abs(after[2] - after[max(after)]) <= 0.05 * after[max(after)])
    return Finding(f"within 5 % after two rounds: {counted_wins(held)}", "yes", mark_of(held))


def sizes(folder: Rows) -> Finding | None:
    """Return whether no size of the variance network is more than a tenth worse than the best."""
    frame = pandas.DataFrame(folder.of(SIZE))
    if frame.empty:
        return None
    means = frame.groupby([*PLACE, "method"])["wasserstein"].mean()
    best = means.groupby(level=list(PLACE)).transform("min")
    held = (means <= 1.1 * best).tolist()
    return Finding(f"WA within 10 % of the best: {counted_wins(held)}", "robust", mark_of(held))


def illustration(folder: Rows) -> Finding | None:
    """Return whether the default model meets the limits of the one-dimensional example."""
    rows = folder.of("toy.jsonl")
    if not rows:
        return None
    means = pandas.DataFrame(rows)[list(COLUMNS)].mean()
    means["rmse_ratio"] = means["mean_rmse"] / means["oracle_rmse"]
    limits = {field: column for field, column in COLUMNS.items() if column.limit}
    held = [column.holds(means[field]) for field, column in limits.items()]
    missed = [c.heading for (_, c), holds in zip(limits.items(), held, strict=True) if not holds]
    why = f"limit missed: {', '.join(missed)}" if missed else ""
    shown = f"defaults: {counted_wins(held)} limits"
    return Finding(shown, "figure", mark_of(held), why)


def two_modes(folder: Rows) -> Finding | None:
    """Return whether the mixture model meets its limits."""
    rows = folder.of("two-modes.jsonl")
    if not rows:
        return None
    means = pandas.DataFrame(rows)[list(MODES)].mean()
    held = [column.holds(means[field]) for field, column in MODES.items() if column.limit]
    words = f"{counted_wins(held)} limits, {counted(len(rows), 'seed')}"
    return Finding(words, "figure", mark_of(held))


def cost(folder: Rows) -> Finding | None:
    """Return how much longer K = 2 takes than MVE (pSGLD); β-NLL with five β has no rows."""
    frame = pandas.DataFrame([row for row in folder.of(PLASTICITY) if row["preset"] == "paper"])
    names = [OURS, "MVE (pSGLD)"]
    if frame.empty or not set(names) <= set(frame["method"]):
        return None
    known = frame[frame["method"].isin(names)]
    seconds = known.pivot_table("seconds", "num_paths", "method", "median").dropna()
    ratios = seconds[OURS] / seconds["MVE (pSGLD)"]
    shown = ", ".join(f"{ratio:.1f} ({size} paths)" for size, ratio in ratios.items())
    mark = PARTLY if (ratios <= 4).all() else FAILS
    words = f"K = 2 over MVE (pSGLD): {shown}"
    return Finding(words, "378 s over about 100 s", mark, "no rows of β-NLL with five β")
