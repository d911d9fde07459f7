"""Rows of results from files, one JSON object per line; rows of different runs are not mixed.

What rows must agree on to belong together is their stamp: experiment, version, digest of the source
and settings (see :mod:`vebnn.bench.results`). Rows of the user's own may lack any of these.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vebnn.bench.comparison.measures import METRICS

Row = dict[str, Any]
STAMP = ("experiment", "version", "source", "settings")


@dataclass(frozen=True)
class Results:
    """Rows that belong together: one for each data set, method and split.

    Args:
      rows: those with numbers, and those that say why there are none.
      experiment: what was run.
      origin: where the rows come from, in words.
      notes: what was left out, in sentences.
    """

    rows: tuple[Row, ...]
    experiment: str
    origin: str
    notes: tuple[str, ...] = ()

    def scores(self, field: str, method: str, dataset: str) -> dict[int, float]:
        """Return one number by split, where it is known.

        In the order of the splits, whatever fit was finished first: sums then agree to the last bit.
        """
        found = {
            row["split"]: float(row[field])
            for row in self.rows
            if row["method"] == method and row["dataset"] == dataset and row.get(field) is not None
        }
        return dict(sorted(found.items()))

    def why_skipped(self, method: str, dataset: str) -> str | None:
        """Return the reason a method has no numbers on a data set, if one is given."""
        reasons = [
            str(row["skipped"])
            for row in self.rows
            if row["method"] == method and row["dataset"] == dataset and row.get("skipped")
        ]
        return reasons[-1] if reasons else None


def read_results(
    paths: Sequence[Path],
    *,
    preset: str | None = None,
    mix: bool = False,
    methods: Sequence[str] = (),
    datasets: Sequence[str] = (),
) -> Results:
    """Read files and choose the rows of one run: the newest, which is the one written last.

    Args:
      paths: the files; later files are newer.
      preset: only rows with this preset in their settings.
      mix: put all runs into one table. A method's numbers on a data set still come from one run.
      methods: only these, if any are named.
      datasets: only these, if any are named.

    Raises:
      ValueError: if a file is not of this kind, or if no row is left.
    """
    rows = [row for path in paths for row in _read(path)]
    where = ", ".join(str(path) for path in paths)
    if not rows:
        raise ValueError(f"There are no rows in {where}. Make some: vebnn bench uci --out FILE.")
    if preset is not None:
        presets = dict.fromkeys(str(_preset(row)) for row in rows)
        rows = [row for row in rows if _preset(row) == preset]
        if not rows:
            raise ValueError(
                f"No row in {where} has the preset {preset!r}. There are: {', '.join(presets)}."
            )
    runs = _by_stamp(rows)
    shown, *others = runs
    if mix:
        kept, origin, notes = _newest_of_each_cell(runs), "; ".join(map(_in_words, runs)), []
        if others:
            notes = ["These runs are together in one table; a cell has the newest run that it is in."]
    else:
        kept, origin, notes = shown, _in_words(shown), []
        if others:
            notes = [
                f"This is the newest run, for runs are not mixed. Left out: "
                f"{'; '.join(map(_in_words, others))}. Choose with --preset, or put all together "
                f"with --mix."
            ]
    kept = list({(row["dataset"], row["method"], row.get("split")): row for row in kept}.values())
    kept = _only(_only(kept, "method", methods), "dataset", datasets)
    return Results(tuple(kept), str(shown[0].get("experiment", "")), origin, tuple(notes))


def _read(path: Path) -> list[Row]:
    # A last line without an end is one that a run is writing at this moment.
    lines = [line for line in path.read_bytes().splitlines(True) if line.endswith(b"\n")]
    return [_row(path, *line) for line in enumerate(lines, start=1) if line[1].strip()]


def _row(path: Path, number: int, line: bytes) -> Row:
    where = f"Line {number} of {path}"
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise ValueError(f"{where} is not a JSON object. Delete the line.")
    if "material" in row:
        # Each material with each number of paths is a data set, and each choice of paths a split.
        name = f"material {row['material']}, {row.get('num_paths')} paths"
        row = {"dataset": name, "split": row.get("repeat"), **row}
    for field in ("dataset", "method"):
        if not isinstance(row.get(field), str):
            raise ValueError(
                f"{where} must have the name of a {field}. Got {row.get(field)!r}. "
                f"The tables are made of rows of vebnn bench uci or plasticity."
            )
    if row.get("skipped"):
        return row
    if isinstance(row.get("split"), bool) or not isinstance(row.get("split"), int):
        raise ValueError(f"{where} must have a whole number as its split. Got {row.get('split')!r}.")
    for field in METRICS.keys() & row.keys():
        value = row[field]
        known = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (known and math.isfinite(value)):
            raise ValueError(f"{where} must have a finite number or null as {field}. Got {value!r}.")
    return row


def _by_stamp(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows of each run; the run that was written to last comes first."""
    runs: dict[str, list[Row]] = {}
    # From the last row back, the newest run is met first.
    for row in reversed(rows):
        name = json.dumps([row.get(field) for field in STAMP], sort_keys=True)
        runs.setdefault(name, []).append(row)
    return [run[::-1] for run in runs.values()]


def _newest_of_each_cell(runs: Sequence[list[Row]]) -> list[Row]:
    cells: dict[tuple[str, str], list[Row]] = {}
    for run in runs:
        found: dict[tuple[str, str], list[Row]] = {}
        for row in run:
            found.setdefault((row["dataset"], row["method"]), []).append(row)
        cells = found | cells
    return [row for cell in cells.values() for row in cell]


def _only(rows: list[Row], field: str, names: Sequence[str]) -> list[Row]:
    if not names:
        return rows
    known = {row[field].casefold(): row[field] for row in rows}
    for name in names:
        if name.casefold() not in known:
            raise ValueError(
                f"No row has the {field} {name!r}. There are: {', '.join(known.values())}."
            )
    wanted = {name.casefold() for name in names}
    return [row for row in rows if row[field].casefold() in wanted]


def _preset(row: Row) -> Any:
    settings = row.get("settings")
    return settings.get("preset") if isinstance(settings, dict) else None


def _in_words(run: Sequence[Row]) -> str:
    first = run[0]
    named = {
        "": first.get("experiment"),
        "preset ": _preset(first),
        "vebnn ": first.get("version"),
        "source ": first.get("source"),
    }
    said = [f"{words}{value}" for words, value in named.items() if value is not None]
    return " ".join([*said, f"({len(run)} row{'s' if len(run) > 1 else ''})"]).strip()
