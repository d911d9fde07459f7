"""Tables of numbers with limits: a row per seed and the mean, or a row per number."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vebnn.bench.render.sheet import Sheet, cells


class Column(NamedTuple):
    """A column: its heading, the format of its numbers and the limits of its mean."""

    heading: str
    style: str = ".3f"
    low: float = -np.inf
    high: float = np.inf

    @property
    def limit(self) -> str:
        """Return the range of the mean in signs, or nothing if there is none."""
        if self.low == -np.inf:
            return "" if self.high == np.inf else f"≤ {self.high:g}"
        return f"≥ {self.low:g}" if self.high == np.inf else f"{self.low:g}–{self.high:g}"

    def holds(self, mean: float) -> bool:
        """Return whether a mean is in the range."""
        return self.low <= mean <= self.high


def limits_sheet(
    title: str,
    caption: str,
    columns: Mapping[str, Column],
    rows: Sequence[Mapping[str, Any]],
    means: Mapping[str, float],
) -> Sheet:
    """Return a row per seed, the means with a mark for each limit, and the limits; all by field."""

    def mean_of(field: str, column: Column) -> str:
        mark = f" {'✓' if column.holds(means[field]) else '✗'}" if column.limit else ""
        return format(means[field], column.style) + mark

    seeds = [
        cells(str(row["seed"]), *(format(row[field], one.style) for field, one in columns.items()))
        for row in rows
    ]
    mean = cells("mean", *(mean_of(field, one) for field, one in columns.items()), bold=True)
    limit = cells("limit", *(one.limit for one in columns.values()))
    headings = ("seed", *(one.heading for one in columns.values()))
    return Sheet(title, caption, headings, [seeds, [mean, limit]])


class Check(NamedTuple):
    """A number and its limit."""

    words: str
    value: float
    limit: Column


def checks_sheet(caption: str, checks: Iterable[Check]) -> Sheet:
    """Return a row per number: its limit, what was found and whether the limit holds."""
    lines = [
        cells(
            check.words,
            check.limit.limit,
            format(check.value, check.limit.style),
            "✓" if check.limit.holds(check.value) else "✗",
        )
        for check in checks
    ]
    return Sheet("Limits", caption, ("number", "limit", "value", "holds"), [lines])
