"""Committed rows, and the comparisons that decide whether a claim of the paper holds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas

from vebnn.bench.comparison.measures import METRICS, Metric
from vebnn.bench.comparison.published import published_tables
from vebnn.bench.results import Row, read_rows

HOLDS, PARTLY, FAILS, UNDECIDED = "✓", "(✓)", "✗", "–"
MOST, HALF = 0.75, 0.5  # shares of comparisons for the first and the second mark
ENGINES = ("Ensembles", "MC-Dropout", "BBB", "pSGLD")  # those of the paper


class Finding(NamedTuple):
    """What rows say about a claim."""

    ours: str
    paper: str  # the published counterpart
    mark: str
    why: str = ""  # for all marks but the first


class Pair(NamedTuple):
    """A comparison: ours should be better than the other."""

    ours: str
    other: str


@dataclass(frozen=True)
class Rows:
    """A folder of files of rows."""

    folder: Path

    def of(self, file: str, preset: str | None = None) -> list[Row]:
        """Return the rows of a file that were not skipped; none if there is no such file."""
        path = self.folder / file
        rows = [
            {**row, "preset": row["settings"].get("preset", "standard")}
            for row in (read_rows(path) if path.is_file() else ())
            if "skipped" not in row
        ]
        return [row for row in rows if preset in (None, row["preset"])]


def mark_of(held: Sequence[bool]) -> str:
    """Return the mark of a claim from its comparisons, at least one."""
    share = sum(held) / len(held)
    return HOLDS if share >= MOST else PARTLY if share >= HALF else FAILS


def counted_wins(held: Sequence[bool]) -> str:
    """Return how many comparisons hold."""
    return f"{sum(held)} of {len(held)}"


def same_engine(joint: str = "MVE") -> list[Pair]:
    """Return VeBNN and a joint method with the same engine, for the four engines of the paper."""
    return [Pair(f"VeBNN ({engine})", f"{joint} ({engine})") for engine in ENGINES]


def presets_of(rows: Iterable[Row]) -> str:
    """Return the presets of some rows, in words."""
    return " and ".join(sorted({str(row["preset"]) for row in rows}))


def compare(
    rows: Iterable[Row],
    place: Sequence[str],
    repeat: str,
    pairs: Sequence[Pair],
    fields: Sequence[str],
    *,
    margin: float = 0.0,
) -> list[bool]:
    """Return whether ours is at least as good, for every place, pair and field that rows have.

    Args:
      rows: with a ``method``.
      place: fields of a place, such as ``("material", "num_paths")``.
      repeat: the field of repeats; means are over those that both methods of a pair have.
      pairs: the methods to compare.
      fields: metrics, of :data:`~vebnn.bench.comparison.measures.METRICS`.
      margin: the least advantage that counts, as a share of the other's value.
    """
    frame = pandas.DataFrame(list(rows))
    if frame.empty:
        return []
    held = []
    for field in fields:
        if field not in frame:
            continue
        known = frame[frame[field].notna()].drop_duplicates([*place, repeat, "method"], keep="last")
        scores = known.pivot(index=[*place, repeat], columns="method", values=field).astype(float)
        for ours, other in pairs:
            if not {ours, other} <= set(scores.columns):
                continue
            both = scores[[ours, other]].dropna().groupby(level=list(place)).mean()
            held += [_better(METRICS[field], a, b, margin) for a, b in both.to_numpy()]
    return held


def _better(metric: Metric, ours: float, other: float, margin: float) -> bool:
    """Return whether a mean is at least as good as another; a target is approached from both sides."""
    gain = metric.loss(other) - metric.loss(ours)
    return bool(gain >= margin * abs(other))


def published_wins(label: str, field: str, pairs: Sequence[Pair], margin: float = 0.0) -> list[bool]:
    """Return the same for the means that the paper prints."""
    values = next(
        table["values"]
        for table in published_tables()
        if (table["label"], table["field"]) == (label, field)
    )
    metric = METRICS[field]
    return [
        _better(metric, values[ours][dataset][0], values[other][dataset][0], margin)
        for ours, other in pairs
        if ours in values and other in values
        for dataset in values[ours]
        if dataset in values[other]
    ]
