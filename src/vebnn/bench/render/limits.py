"""A table with a row per seed, their mean, and the limits of the mean."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vebnn.bench.render.sheet import Sheet, cells


class Limit(NamedTuple):
    """The range of a mean."""

    low: float = -np.inf
    high: float = np.inf

    def __str__(self) -> str:
        if self.low == -np.inf:
            return f"≤ {self.high:g}"
        return f"≥ {self.low:g}" if self.high == np.inf else f"{self.low:g}–{self.high:g}"

    def holds(self, value: float) -> bool:
        """Return whether a number is in the range."""
        return self.low <= value <= self.high


class Column(NamedTuple):
    """A column: its heading, the format of its numbers and the limit of its mean."""

    heading: str
    style: str = ".3f"
    limit: Limit | None = None


def limits_sheet(
    title: str,
    caption: str,
    columns: Mapping[str, Column],
    rows: Sequence[Mapping[str, Any]],
    means: Mapping[str, float],
) -> Sheet:
    """Return a row per seed, the means with a mark for each limit, and the limits.

    Columns and means are by the field of a row.
    """

    def mean_of(field: str, column: Column) -> str:
        text = format(means[field], column.style)
        return (
            text
            if column.limit is None
            else f"{text} {'✓' if column.limit.holds(means[field]) else '✗'}"
        )

    seeds = [
        cells(str(row["seed"]), *(format(row[field], one.style) for field, one in columns.items()))
        for row in rows
    ]
    mean = cells("mean", *(mean_of(field, one) for field, one in columns.items()), bold=True)
    limit = cells("limit", *(str(one.limit or "") for one in columns.values()))
    headings = ("seed", *(one.heading for one in columns.values()))
    return Sheet(title, caption, headings, [seeds, [mean, limit]])
