"""Tables of the measurements."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from benchmarks.speed.cases import CONCRETE
from benchmarks.speed.programs import LOADER, POSTERIORS, PRODUCTS, TENSORS, UQ_BOX, VEBNN
from benchmarks.speed.scaling import Curve
from benchmarks.speed.timing import Timing
from vebnn.bench.render.sheet import Cell, Sheet

OTHERS = (LOADER, TENSORS, UQ_BOX, POSTERIORS)


@dataclass(frozen=True)
class Claim:
    """A promise of this project, and what this run found."""

    text: str
    found: float
    limit: float
    at_least: bool = True

    @property
    def kept(self) -> bool:
        """Whether the figure is on the right side of the limit."""
        return self.found >= self.limit if self.at_least else self.found <= self.limit


def of_steps(timings: Sequence[Timing], cores: int) -> Sheet:
    """Return the times of all steps on some cores."""
    rows = []
    for timing in timings:
        case, step = timing.job
        ratios = [_times(timing, name) for name in OTHERS]
        floor = _floor(timing)
        over_floor = f"{timing.seconds[VEBNN] / floor:.2f}" if floor else "–"
        rows.append([f"{case.name}, Step {step}", short(timing.seconds[VEBNN]), *ratios, over_floor])
    where = "one core" if cores == 1 else f"all {cores} cores"
    return sheet(
        f"A step on {where}",
        "vebnn's time, how many times as long others take, and how many times as long vebnn takes as "
        "the matrix products of the step alone (the faster of OpenBLAS and XLA). "
        + ("" if cores == 1 else "vebnn trains one network on each core, and counts their steps."),
        ("", VEBNN, *OTHERS, "× products"),
        rows,
    )


def of_images(timings: Sequence[Timing]) -> Sheet:
    """Return the times of training steps on images."""
    rows = [
        [timing.job[0].name, short(timing.seconds[VEBNN]), _times(timing, TENSORS)]
        for timing in timings
    ]
    caption = "Step 1 of a batch of 32 images on one core: vebnn's time, × as long PyTorch takes."
    return sheet("A step on images", caption, ("", VEBNN, TENSORS), rows)


def of_fits(timings: Sequence[Timing], share: float) -> Sheet:
    """Return the times of whole fits."""
    others = (LOADER, TENSORS)
    rows = [
        [timing.job[0].name, short(timing.seconds[VEBNN]), *(_times(timing, name) for name in others)]
        for timing in timings
    ]
    caption = (
        "VeBNN (pSGLD) with the paper's settings for such data, on one core: vebnn's time, and how "
        f"many times as long others take. Of their epochs {share:.0%} were run and the time scaled up, "
        "and so with vebnn on other than the UCI sizes."
    )
    return sheet("Whole fits", caption, ("", VEBNN, *others), rows)


def of_claims(claims: Sequence[Claim]) -> Sheet:
    """Return promises beside the figures found."""
    rows = [
        [
            claim.text,
            f"{claim.found:.2f}",
            f"{'≥' if claim.at_least else '≤'} {claim.limit:g}",
            "yes" if claim.kept else "NO",
        ]
        for claim in claims
    ]
    return sheet("Promises", "From the tables below.", ("", "found", "promised", "kept"), rows)


def of_curves(curves: Sequence[Curve]) -> Sheet:
    """Return how costs grow."""
    rows = [
        [
            f"{curve.cost}, by {curve.of}",
            *(
                f"{size:,}: {short(each)}"
                for size, each in zip(curve.sizes, curve.seconds, strict=True)
            ),
            f"{curve.exponent:.2f}",
        ]
        for curve in curves
    ]
    columns = ("one core", "size: time", "", "", "", "exponent")
    caption = "The exponent is the slope of log time over log size: 1 is proportional to size."
    return sheet("Growth", caption, columns, rows)


def step_claims(timings: Sequence[Timing]) -> list[Claim]:
    """Return the promises for single steps on one core."""
    claims = []
    for timing in timings:
        case, step = timing.job
        ours = timing.seconds[VEBNN]
        name = f"Step {step}, {case.name}"
        if case == CONCRETE and step != 2:
            limits = {LOADER: 30, TENSORS: 8, UQ_BOX: 50}
            claims += [
                Claim(f"{name}: {other} takes × as long", timing.seconds[other] / ours, limit)
                for other, limit in limits.items()
                if other in timing.seconds
            ]
            claims.append(
                Claim(f"{name}: × matrix products", ours / _floor(timing), 2.5, at_least=False)
            )
        theirs = [timing.seconds[other] for other in (LOADER, TENSORS) if other in timing.seconds]
        if case.recurrent and theirs:
            text = f"{name}: the faster PyTorch takes × as long"
            claims.append(Claim(text, min(theirs) / ours, 3 if step == 2 else 1))
    return claims


def image_claims(timings: Sequence[Timing]) -> list[Claim]:
    """Return the promises for images."""
    return [
        Claim(
            f"Step 1, {timing.job[0].name}: {TENSORS} takes × as long",
            timing.seconds[TENSORS] / timing.seconds[VEBNN],
            1,
        )
        for timing in timings
        if TENSORS in timing.seconds
    ]


def fit_claims(timings: Sequence[Timing]) -> list[Claim]:
    """Return the promises for whole fits."""
    return [
        Claim(
            f"Whole fit, {timing.job[0].name}: {LOADER} takes × as long",
            timing.seconds[LOADER] / timing.seconds[VEBNN],
            30,
        )
        for timing in timings
        if timing.job[0] == CONCRETE and LOADER in timing.seconds
    ]


def growth_claims(curves: Sequence[Curve]) -> list[Claim]:
    """Return the promises for growth."""
    return [
        Claim(f"Growth by {curve.of}, {curve.cost}: exponent", curve.exponent, 1.05, at_least=False)
        for curve in curves
        if curve.of in ("rows", "draws")
    ]


def sheet(title: str, caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Sheet:
    """Return a table of plain cells."""
    return Sheet(title, caption, columns, [[[Cell(text) for text in row] for row in rows]])


def print_missing(timings: Sequence[Timing], console: Console) -> None:
    """Print a sentence for every program whose package is missing."""
    whys = {
        name: why
        for timing in timings
        for name, why in timing.missing.items()
        if why.startswith(("ImportError", "ModuleNotFoundError"))
    }
    for name, why in whys.items():
        console.print(f"{name} is not installed: {why}.", highlight=False, soft_wrap=True)


def _times(timing: Timing, name: str) -> str:
    return f"{timing.seconds[name] / timing.seconds[VEBNN]:.1f} ×" if name in timing.seconds else "–"


def _floor(timing: Timing) -> float | None:
    found = [timing.seconds[name] for name in PRODUCTS if name in timing.seconds]
    return min(found) if found else None


def short(seconds: float) -> str:
    """Return a time with its unit."""
    for factor, unit in ((1e6, "µs"), (1e3, "ms")):
        if seconds * factor < 1_000:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"
