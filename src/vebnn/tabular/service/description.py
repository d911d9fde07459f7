"""The JSON description of a model that ``GET /model`` returns."""

from typing import Any

import vebnn
from vebnn.tabular.columns import Column, NumberColumn
from vebnn.tabular.model import TableModel


def describe(model: TableModel, max_rows: int) -> dict[str, Any]:
    """Return features with kinds and ranges, targets, scores and settings."""
    return {
        "vebnn": vebnn.__version__,
        "estimator": type(model.estimator).__name__,
        "features": [_feature(column) for column in model.encoder.columns],
        "targets": [one._asdict() for one in model.facts.targets],
        "scores": [one._asdict() for one in model.facts.scores],
        "trained_rows": model.facts.num_trained,
        "calibration": model.facts.calibration,
        "settings": {
            name: value if value is None or isinstance(value, bool | int | float | str) else str(value)
            for name, value in model.settings.items()
        },
        "max_rows": max_rows,
    }


def _feature(column: Column) -> dict[str, Any]:
    shared = {"name": column.name, "kind": column.kind, "typical": column.typical}
    if isinstance(column, NumberColumn):
        return {**shared, "low": column.low, "high": column.high, "whole": column.whole}
    return {**shared, "categories": column.present}
