"""The numbers the paper published, from ``published.json`` beside this file.

Every cell of the paper's four tables of UCI data: TLL (Table 1), RMSE, TC and TIL (appendix). Nothing
is rounded or mended: the std of 1.1927 for the RMSE of MVE (Ensembles) on Carbon is the paper's.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

EXPERIMENT = "uci"  # the experiment whose rows these numbers stand beside


class Published(NamedTuple):
    """A cell of the paper: over its own 20 splits, which are not published."""

    mean: float
    std: float


def published(table: str, method: str, dataset: str) -> Published | None:
    """Return what the paper says, or nothing where it says nothing.

    Args:
      table: the field of the metric: ``"tll"``, ``"rmse"``, ``"coverage"`` or ``"interval_length"``.
      method: the paper's name, as in :mod:`vebnn.bench.methods`.
      dataset: the name of a UCI set, such as ``"wine-red"``.
    """
    values = published_tables().get(table, {}).get("values", {})
    cell = values.get(method, {}).get(dataset)
    return None if cell is None else Published(*cell)


def published_datasets() -> tuple[str, ...]:
    """Return the data sets in the order of the paper's columns."""
    first_row = next(iter(published_tables()["tll"]["values"].values()))
    return tuple(first_row)


def published_tables() -> Mapping[str, Mapping[str, Any]]:
    """Return the tables by the field of their metric: label, title, place and values."""
    return _document()["tables"]


def citation() -> str:
    """Return which paper it is."""
    return _document()["citation"]


@cache
def _document() -> dict[str, Any]:
    return json.loads((files("vebnn.bench.comparison") / "published.json").read_text("utf-8"))
