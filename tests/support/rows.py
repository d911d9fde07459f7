"""Rows of results, made up so that the answer is obvious."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from vebnn.bench.comparison.reading import Results

STAMP = {
    "experiment": "uci",
    "results_version": 1,
    "settings": {"preset": "standard"},
}


def rows_of(
    dataset: str, method: str, values: Sequence[float | None], field: str = "tll", **more: Any
) -> list[dict[str, Any]]:
    """Return a row per value; the value's place is its split."""
    return [
        {**STAMP, "dataset": dataset, "method": method, "split": split, field: value, **more}
        for split, value in enumerate(values)
    ]


def skipped(dataset: str, method: str, reason: str) -> list[dict[str, Any]]:
    return [{**STAMP, "dataset": dataset, "method": method, "split": 0, "skipped": reason}]


def results(*groups: Iterable[dict[str, Any]], experiment: str = "uci") -> Results:
    return Results(tuple(row for group in groups for row in group), experiment, "made up")


def write(path: Path, *groups: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for group in groups for row in group))
    return path
