"""Predictions → the bytes of an answer."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas
from pydantic import BaseModel

from vebnn.prediction import Prediction
from vebnn.tabular.columns import NumberColumn
from vebnn.tabular.errors import TableError
from vebnn.tabular.model import TableModel
from vebnn.tabular.scores import columns_of
from vebnn.tabular.sequences.encoder import EncodedSequences

# Between two pieces, Python's global lock is free for /health.
_ROWS_PER_PIECE = 200


class TargetPrediction(BaseModel):
    """One target of one row, in the units of the training table."""

    mean: float
    std: float
    aleatoric_std: float
    epistemic_std: float
    lower: float
    upper: float


class PredictResponse(BaseModel):
    """Predictions, one per row and target."""

    level: float
    notices: list[str]
    predictions: list[dict[str, TargetPrediction]]


def answer_json(model: TableModel, table: pandas.DataFrame, level: float, unknown: list[str]) -> bytes:
    """Return predictions as JSON, in the form of PredictResponse."""
    prediction, notices = predict_finite(model, table)
    about = [*notices, *model.encoder.notices_of_unknown(unknown)]
    head = f'{{"level":{json.dumps(level)},"notices":{json.dumps(about)},"predictions":['
    return (head + ",".join(_pieces(model, prediction, level)) + "]}").encode()


def answer_csv(model: TableModel, table: pandas.DataFrame, level: float) -> bytes:
    """Return predictions as CSV, with the identifiers of the rows."""
    prediction, _ = predict_finite(model, table)
    return model.prediction_table(table, prediction, level).to_csv(index=False).encode()


def predict_finite(model: TableModel, table: pandas.DataFrame) -> tuple[Prediction, tuple[str, ...]]:
    """Return a prediction and its notices.

    Raises:
      TableError: if an input is so far from the training rows that a prediction is not finite.
    """
    encoded = model.encode(table)
    with np.errstate(over="ignore", invalid="ignore"):
        prediction, notices = model.predict(encoded)
        finite = np.isfinite(columns_of(prediction.mean)) & np.isfinite(columns_of(prediction.std))
    if not finite.all():
        row = int(np.argmin(finite.all(1)))
        if isinstance(encoded, EncodedSequences):
            raise TableError(
                f"The sequences must stay near the training range: the prediction of row {row + 1} "
                f"overflows.",
                row=row,
            )
        far = {
            column: abs(value - column.median) / (column.high - column.low or 1.0)
            for column in model.encoder.columns
            if isinstance(column, NumberColumn)
            for value in [encoded.matrix[column.name].iloc[row]]
        }
        column = max(far, key=far.__getitem__)
        raise TableError(
            f"The column {column.name!r} must stay near its training range, {column.summary}: with the "
            f"{encoded.matrix[column.name].iloc[row]:g} of row {row + 1} the prediction overflows.",
            column.name,
            row,
        )
    return prediction, notices


def _pieces(model: TableModel, prediction: Prediction, level: float) -> Iterator[str]:
    lower, upper = prediction.interval(level)
    stds = {name: getattr(prediction, name) for name in ("std", "aleatoric_std", "epistemic_std")}
    parts = {"mean": prediction.mean, **stds, "lower": lower, "upper": upper}
    columns = {name: columns_of(values).tolist() for name, values in parts.items()}

    def row_of(row: int) -> dict[str, Any]:
        return {
            target: {name: values[row][at] for name, values in columns.items()}
            for at, target in enumerate(model.targets)
        }

    for start in range(0, len(prediction), _ROWS_PER_PIECE):
        piece = range(start, min(start + _ROWS_PER_PIECE, len(prediction)))
        written = json.dumps([row_of(row) for row in piece], separators=(",", ":"), allow_nan=False)
        yield written[1:-1]
