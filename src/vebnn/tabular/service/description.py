"""A model described for people and machines that want to ask it something."""

from typing import Any

import vebnn
from vebnn.tabular.columns import NumberColumn
from vebnn.tabular.model import TableModel
from vebnn.tabular.values import MISSING


def describe(model: TableModel, max_rows: int) -> dict[str, Any]:
    """Return features with kinds and ranges, targets, scores and settings, as JSON."""
    estimator = model.estimator
    return {
        "vebnn": vebnn.__version__,
        "estimator": type(estimator).__name__,
        "features": [_feature(column) for column in model.encoder.columns],
        "targets": [one._asdict() for one in model.facts.targets],
        "scores": [one._asdict() for one in model.facts.scores],
        "trained_rows": model.facts.num_trained,
        "calibration": model.facts.calibration,
        "settings": {
            name: value if value is None or isinstance(value, bool | int | float | str) else str(value)
            for name, value in estimator.get_params(deep=False).items()
            if name not in ("checkpoint", "verbose")
        },
        "max_rows": max_rows,
    }


def _feature(column: Any) -> dict[str, Any]:
    shared = {"name": column.name, "kind": column.kind, "typical": column.typical}
    if isinstance(column, NumberColumn):
        return {**shared, "low": column.low, "high": column.high, "whole": column.whole}
    return {**shared, "categories": [label for label in column.categories if label != MISSING]}
