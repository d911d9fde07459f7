"""Which rows of a table of candidates to measure next."""

from typing import Any, NamedTuple

import numpy as np
import pandas

from vebnn.acquisition import suggest
from vebnn.prediction import Prediction
from vebnn.tabular.encoded import EncodedTable
from vebnn.tabular.errors import TableError, quoted_list
from vebnn.tabular.model import TableModel
from vebnn.tabular.reasons import explain_rows, reasons
from vebnn.tabular.scores import columns_of
from vebnn.tabular.sequences.encoder import SequenceEncoder

FOR_AN_OPTIMUM = ("expected_improvement", "confidence_bound")  # scores that depend on the mean


class Candidates(NamedTuple):
    """Rows to measure, the best first."""

    rows: np.ndarray  # (n,), positions in the table
    scores: np.ndarray  # (n,), of each when it was chosen
    prediction: Prediction  # of these rows
    table: pandas.DataFrame  # these rows with all their columns, predictions, scores and reasons
    notices: tuple[str, ...]  # about the whole table
    reasons: tuple[str, ...]  # what drives the prediction of each row; none for images


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
    :meth:`vebnn.prediction.Prediction.to_frame`, ``score``, and ``reason`` unless rows are images. If
    the table has a column of such a name already, the new one is prefixed with ``suggested_``.

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
    if isinstance(model.encoder, SequenceEncoder):
        raise TableError(
            "The steps of a sequence are not measured one by one, so none can be suggested. Predict "
            "candidates with vebnn predict, and measure the sequences with the largest epistemic_std."
        )
    if target is not None:
        options["output"] = target_position(model, target)
    pool = model.encode(frame)
    rows, scores = suggest(model.estimator, pool.matrix, n, how, **options)
    prediction = model.estimator.predict_distribution(pool.take(rows))
    predicted = prediction.to_frame().reset_index(drop=True).assign(score=scores)
    why = _reasons(model, pool.frame.iloc[rows], how, target)
    if why:
        predicted = predicted.assign(reason=why)
    names = {name: _unused(name, pool.frame) for name in ("row", *predicted.columns)}
    numbers = pandas.Series(rows + 1, name=names["row"])
    chosen = pool.frame.iloc[rows].reset_index(drop=True)
    table = pandas.concat([numbers, chosen, predicted.rename(columns=names)], axis=1)
    return Candidates(rows, scores, prediction, table, pool.notices, why)


def _reasons(
    model: TableModel, rows: pandas.DataFrame, how: str, target: str | None
) -> tuple[str, ...]:
    """Return why each row has its score: what it does not know, and for an optimum also the mean."""
    explanation = explain_rows(model, rows)
    if explanation is None:
        return ()
    outputs = ("mean", "epistemic_std") if how in FOR_AN_OPTIMUM else ("epistemic_std",)
    return reasons(explanation, outputs, target)


def best_so_far(model: TableModel, goal: str = "minimise", *, target: str | None = None) -> float:
    """Return the best prediction for the training rows that the model keeps.

    The best observation would be partly luck; see :func:`vebnn.acquisition.expected_improvement`.
    The goal is ``"minimise"`` or ``"maximise"``; the target must be given if there are several.
    """
    if not len(model.sample):
        raise TableError("The model keeps no training rows. Give the best target so far with --best.")
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
