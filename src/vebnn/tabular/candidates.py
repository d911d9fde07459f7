"""Which rows of a table of candidates to measure next."""

from typing import Any, NamedTuple

import numpy as np
import pandas

from vebnn.acquisition import suggest
from vebnn.prediction import Prediction
from vebnn.tabular.encoded import EncodedTable
from vebnn.tabular.errors import TableError, quoted_list
from vebnn.tabular.model import TableModel
from vebnn.tabular.scores import columns_of


class Candidates(NamedTuple):
    """Rows to measure, the best first."""

    rows: np.ndarray  # (n,), positions in the table
    scores: np.ndarray  # (n,), of each when it was chosen
    prediction: Prediction  # of these rows
    table: pandas.DataFrame  # these rows with all their columns, predictions and scores
    notices: tuple[str, ...]  # about the whole table


def suggest_rows(
    model: TableModel,
    frame: pandas.DataFrame | EncodedTable,
    n: int = 1,
    how: str = "epistemic",
    *,
    target: str | None = None,
    **options: Any,
) -> Candidates:
    """Choose ``n`` rows of a table to measure next.

    The returned table has the number of each row (from 1), its own columns, those of
    :meth:`vebnn.prediction.Prediction.to_frame`, and ``score``. If the table has a column of such a
    name already, the new one is prefixed with ``suggested_``.

    Args:
      model: a model of tables.
      frame: the candidates.
      n: number of rows to choose.
      how: as for :func:`vebnn.acquisition.suggest`.
      target: the target to score; all of them by default.
      **options: settings of the score, such as ``best=0.3, goal="maximise"``.

    Raises:
      ValueError: if an argument is wrong, or if the model has no epistemic uncertainty.
    """
    if target is not None:
        options["output"] = target_position(model, target)
    pool = model.encode(frame)
    rows, scores = suggest(model.estimator, pool.matrix, n, how, **options)
    prediction = model.estimator.predict_distribution(pool.take(rows))
    predicted = prediction.to_frame().reset_index(drop=True).assign(score=scores)
    names = {name: _unused(name, pool.frame) for name in ("row", *predicted.columns)}
    numbers = pandas.Series(rows + 1, name=names["row"])
    chosen = pool.frame.iloc[rows].reset_index(drop=True)
    table = pandas.concat([numbers, chosen, predicted.rename(columns=names)], axis=1)
    return Candidates(rows, scores, prediction, table, pool.notices)


def best_so_far(model: TableModel, goal: str = "minimise", *, target: str | None = None) -> float:
    """Return the best prediction for the training rows that the model keeps.

    The best observation would be partly luck; see :func:`vebnn.acquisition.expected_improvement`.
    The goal is ``"minimise"`` or ``"maximise"``; the target must be given if there are several.
    """
    rows = model.encoder.as_inputs(model.sample)
    means = columns_of(model.estimator.predict_distribution(rows).mean)
    means = means[:, target_position(model, target)]
    return float(means.max() if goal == "maximise" else means.min())


def target_position(model: TableModel, target: str | None) -> int:
    """Return the position of a target among those of the model."""
    targets = model.targets
    if target is None and len(targets) == 1:
        return 0
    if target not in targets:
        wrong = "none" if target is None else repr(target)
        raise TableError(
            f"The target must be one of the model's: {quoted_list(targets)}. Got {wrong}.", target
        )
    return targets.index(target)


def _unused(name: str, frame: pandas.DataFrame) -> str:
    while name in frame.columns:
        name = f"suggested_{name}"
    return name
