"""The numbers of the paper's tables, from ``published.json`` beside this file.

Every table has its label in the paper, its experiment and the field of its metric. Numbers are copied
as printed: the std of 1.1927 for the RMSE of MVE (Ensembles) on Carbon is the paper's. Methods have
the names of :mod:`vebnn.bench.methods`: the image tables' MVE (Ensembles) was trained by β-NLL with
β = 0.5, and is ``"MVE (β-NLL=0.5 / Ensembles)"`` here.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple


class Published(NamedTuple):
    """A cell of the paper, over its own unpublished splits."""

    mean: float
    std: float


def published(field: str, method: str, dataset: str, experiment: str = "uci") -> Published | None:
    """Return a number of the paper, or ``None`` where it has none.

    Args:
      field: of the metric, such as ``"tll"``, ``"rmse"``, ``"coverage"`` or ``"interval_length"``.
      method: the paper's name, as in :mod:`vebnn.bench.methods`.
      dataset: such as ``"wine-red"``, ``"cells-gap"`` or ``"50 paths"``.
      experiment: ``"uci"``, ``"images"``, ``"images · loss"``, ``"appa-real"``, ``"plasticity"`` or
        ``"plasticity · loss"``.
    """
    cell = _values(field, experiment).get(method, {}).get(dataset)
    return None if cell is None else Published(*cell)


def published_datasets() -> tuple[str, ...]:
    """Return the UCI data sets in the order of the paper's columns."""
    return tuple(next(iter(_values("tll", "uci").values())))


def published_tables() -> Sequence[Mapping[str, Any]]:
    """Return all tables, one for each label in the paper and metric."""
    return _document()["tables"]


def citation() -> str:
    """Return the reference of the paper."""
    return _document()["citation"]


def _values(field: str, experiment: str) -> Mapping[str, Mapping[str, Any]]:
    for table in published_tables():
        if (table["experiment"], table["field"]) == (experiment, field):
            return table["values"]
    return {}


@cache
def _document() -> dict[str, Any]:
    return json.loads((files("vebnn.bench.comparison") / "published.json").read_text("utf-8"))
