"""Rows of one run, from files of results or from memory.

Rows belong to one run if they agree in their stamp: experiment, version of results and settings (see
:mod:`vebnn.bench.results`). Rows of other programs may lack any of these.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas

from vebnn.bench.comparison.measures import METRICS
from vebnn.bench.results import Row, read_rows

STAMP = ("experiment", "results_version", "settings")


@dataclass(frozen=True)
class Results:
    """Rows of one run: one for each data set, method and split."""

    rows: tuple[Row, ...]  # numbers, or the reason why there are none
    experiment: str
    origin: str  # describes the run
    notes: tuple[str, ...] = ()  # sentences about rows that were left out

    def scores(self, field: str, method: str, dataset: str) -> pandas.Series:
        """Return the known values of a field by split, in order: sums then agree to the last bit."""
        rows = (row for row in self.rows_of(method, dataset) if row.get(field) is not None)
        return pandas.Series({row["split"]: row[field] for row in rows}, dtype=float).sort_index()

    def why_skipped(self, method: str, dataset: str) -> str | None:
        """Return why a method has no numbers on a data set, if a row says it."""
        reasons = [str(row["skipped"]) for row in self.rows_of(method, dataset) if row.get("skipped")]
        return reasons[-1] if reasons else None

    def rows_of(self, method: str, dataset: str) -> list[Row]:
        """Return the rows of a method on a data set."""
        return [row for row in self.rows if row["method"] == method and row["dataset"] == dataset]


def read_results(
    paths: Sequence[Path],
    *,
    preset: str | None = None,
    methods: Sequence[str] = (),
    datasets: Sequence[str] = (),
) -> Results:
    """Read files and return the rows of the newest run, which is the one written to last.

    Args:
      paths: the files; later files are newer.
      preset: only rows with this preset in their settings.
      methods: only these methods, if any are given.
      datasets: only these data sets, if any are given.

    Raises:
      ValueError: if a line is not a row of results, or if no row is left.
    """
    rows = [
        _checked(_with_dataset(row), f"Row {number} of {path}")
        for path in paths
        for number, row in enumerate(read_rows(path), start=1)
    ]
    where = ", ".join(map(str, paths))
    if not rows:
        raise ValueError(f"There are no rows in {where}. Make some: vebnn bench uci --out FILE.")
    newest, *others = _runs(_only(rows, "preset", [] if preset is None else [preset]))
    found = results_of(newest)
    kept = _only(_only(found.rows, "method", methods), "dataset", datasets)
    left_out = "; ".join(map(_in_words, others))
    notes = (f"This is the newest run. Left out: {left_out}. Choose with --preset.",) if others else ()
    return Results(tuple(kept), found.experiment, found.origin, notes)


def results_of(rows: Sequence[Row]) -> Results:
    """Return rows of one run; a later row replaces an earlier one of the same split."""
    named = map(_with_dataset, rows)
    latest = {
        (row["dataset"], row["method"], row.get("effort"), row.get("split")): row for row in named
    }
    return Results(tuple(latest.values()), str(rows[0].get("experiment", "")), _in_words(rows))


def _with_dataset(row: Row) -> Row:
    """Name the data set: material and number of paths, or problem; a repeat or seed is a split."""
    if "problem" in row:
        return {"dataset": row["problem"], "split": row.get("seed"), **row}
    if "material" not in row:
        return row
    name = f"material {row['material']}, {row.get('num_paths')} paths"
    return {"dataset": name, "split": row.get("repeat"), **row}


def _checked(row: Row, where: str) -> Row:
    for field in ("dataset", "method"):
        if not isinstance(row.get(field), str):
            raise ValueError(
                f"{where} must have the name of a {field}. Got {row.get(field)!r}. "
                f"The tables are made of rows of vebnn bench run, uci, truth or plasticity."
            )
    if row.get("skipped"):
        return row
    if isinstance(row.get("split"), bool) or not isinstance(row.get("split"), int):
        raise ValueError(f"{where} must have a whole number as its split. Got {row.get('split')!r}.")
    for field in METRICS.keys() & row.keys():
        value = row[field]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (is_number and math.isfinite(value)):
            raise ValueError(f"{where} must have a finite number or null as {field}. Got {value!r}.")
    return row


def newest_run(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the run that was written to last."""
    return _runs(rows)[0]


def _runs(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows of each run; the run that was written to last comes first."""
    runs: dict[str, list[Row]] = {}
    for row in reversed(rows):
        name = json.dumps([row.get(field) for field in STAMP], sort_keys=True)
        runs.setdefault(name, []).append(row)
    return [run[::-1] for run in runs.values()]


def _only(rows: Sequence[Row], field: str, names: Sequence[str]) -> Sequence[Row]:
    """Return the rows with one of the names; no names are all."""

    def value(row: Row) -> str:
        return str(_preset(row) if field == "preset" else row[field])

    known = {value(row).casefold(): value(row) for row in rows}
    wanted = {name.casefold(): name for name in names}
    for name in wanted.keys() - known.keys():
        there = ", ".join(known.values())
        raise ValueError(f"No row has the {field} {wanted[name]!r}. There are: {there}.")
    return [row for row in rows if value(row).casefold() in wanted] if names else rows


def _preset(row: Row) -> Any:
    settings = row.get("settings")
    return settings.get("preset") if isinstance(settings, dict) else None


def _in_words(run: Sequence[Row]) -> str:
    values = (run[0].get("experiment"), _preset(run[0]), run[0].get("results_version"))
    named = zip(("", "preset ", "results version "), values, strict=True)
    said = [f"{words}{value}" for words, value in named if value is not None]
    return f"{', '.join(said)} ({len(run)} row{'s' if len(run) > 1 else ''})".strip()
