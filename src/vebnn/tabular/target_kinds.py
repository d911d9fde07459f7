"""Kinds of the targets of a table: which are possible, and which to try."""

from collections.abc import Sequence

import numpy as np
from scipy import stats

from vebnn.core.arguments import require_one_of
from vebnn.prediction.targets import TARGETS
from vebnn.tabular.errors import TableError, counted

LARGEST_TYPICAL_COUNT = 100  # whole numbers above are as good as real ones


def require_kinds(kinds: Sequence[str], targets: Sequence[str]) -> tuple[str, ...]:
    """Return the kind of each target, from one for all of them, one for each, or none."""
    for kind in kinds:
        require_one_of("target-kind", kind, tuple(TARGETS))
    if len(kinds) <= 1:
        return (*kinds, "real")[:1] * len(targets)
    if len(kinds) != len(targets):
        raise TableError(
            f"The --target-kind must be given once, or once for each target. Got {len(kinds)} for "
            f"{counted(len(targets), 'target')}."
        )
    return tuple(kinds)


def require_possible(
    observed: np.ndarray, targets: Sequence[str], kinds: Sequence[str], row_numbers: Sequence[int]
) -> None:
    """Refuse a table with targets ``(rows, targets)`` that their kind does not allow.

    The ``row_numbers`` are places in the file, where rows without a target count.
    """
    for values, name, kind in zip(observed.T, targets, kinds, strict=True):
        target = TARGETS[kind]
        wrong = ~target.allows(values)
        if wrong.any():
            first = int(np.argmax(wrong))
            row = int(row_numbers[first])
            raise TableError(
                f"The target {name!r} must be {target.support}, because its kind is {kind!r}. Got "
                f"{values[first]:g} in row {row + 1}, {counted(int(wrong.sum()), 'such row')} in all; "
                f"{target.way_out}.",
                name,
                row,
            )


def proposals(observed: np.ndarray, targets: Sequence[str], kinds: Sequence[str]) -> list[str]:
    """Return which kinds to try in place of real ones, as the training rows say.

    One kind alone would be that of all targets, so options for several targets have the kind of each.
    """
    better, reasons = list(kinds), []
    for at, (values, name) in enumerate(zip(observed.T, targets, strict=True)):
        if kinds[at] == "real" and (found := _better(values)) is not None:
            better[at], why = found
            reasons.append(why.format(name=name))
    options = " ".join(f"--target-kind {kind}" for kind in better)
    return [f"{why}: try {options}." for why in reasons]


def _better(values: np.ndarray) -> tuple[str, str] | None:
    """Return a kind and the reason for it, if ranges of real numbers would be impossible in part."""
    low, high = values.mean() - 2 * values.std(), values.mean() + 2 * values.std()
    fits = {name: bool(target.allows(values).all()) for name, target in TARGETS.items()}
    # 0 and 1 alone are no counts, but yes and no.
    few = np.median(values) <= LARGEST_TYPICAL_COUNT and len(np.unique(values)) > 2
    if fits["count"] and few and low < 0:
        return "count", "All values of {name} are whole numbers, 0 or more, and many are near 0"
    if fits["fraction"] and (low < 0 or high > 1):
        return "fraction", "All values of {name} are between 0 and 1, and many are near an end"
    if fits["positive"] and low < 0 and stats.skew(values) > 1:
        return "positive", "All values of {name} are positive and skewed"
    return None
