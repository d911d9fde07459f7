"""Suggest rows of a pool of candidates to measure next."""

from collections.abc import Callable, Mapping
from functools import partial
from inspect import getfullargspec
from typing import Any

import numpy as np

from vebnn.acquisition.batch import Score, Suggestion, choose_batch, choose_best
from vebnn.acquisition.improvement import confidence_bound, expected_improvement
from vebnn.acquisition.information import bald, epistemic_variance
from vebnn.core.arguments import require_one_of, require_whole

SCORES: Mapping[str, Callable[..., np.ndarray]] = {
    "epistemic": epistemic_variance,
    "bald": bald,
    "expected_improvement": expected_improvement,
    "confidence_bound": confidence_bound,
}


def suggest(
    model: Any,
    pool: Any,
    n: int = 1,
    how: str | Score = "epistemic",
    *,
    diverse: bool = True,
    cost: Any = None,
    **options: Any,
) -> Suggestion:
    """Choose ``n`` rows of a pool to measure next.

    Args:
      model: a fitted model with ``predict_distribution``.
      pool: candidates, like the inputs of ``fit``.
      n: number of rows.
      how: ``"epistemic"`` or ``"bald"`` to learn the function, ``"expected_improvement"`` or
        ``"confidence_bound"`` to find its optimum, or a function of a prediction with one number per
        row; larger is better.
      diverse: choose each row as if those before it had been measured (:func:`choose_batch`);
        otherwise the rows with the largest scores, even if they are alike.
      cost: ``(rows,)``, what each measurement costs, in any unit; scores are then those of the score
        per unit of cost. Confidence bounds cannot be divided by costs, because they have no zero.
      **options: of the score, such as ``best=0.3, goal="maximise"`` or ``output=1``.

    Raises:
      ValueError: if an argument is wrong, or if the model has no epistemic uncertainty.

    Example:
      >>> rows, scores = suggest(model, pool, n=5)
      >>> rows, scores = suggest(model, pool, n=5, how="expected_improvement", best=0.3)
    """
    require_whole("n", n, 1)
    score = _with_options(how, options)
    if diverse and n > 1 and options.get("kind", "gaussian") != "gaussian":
        raise ValueError(
            f'The `kind` must be "gaussian" for a diverse batch of several rows. Got '
            f"{options['kind']!r}; try n=1 or diverse=False."
        )
    if not hasattr(model, "predict_distribution"):
        raise ValueError(f"The `model` must have the method predict_distribution. Got {model!r}.")
    prediction = model.predict_distribution(pool)
    if not np.any(prediction.epistemic_variance > 0):
        raise ValueError(
            "The `model` must have epistemic uncertainty. Got none at any row; use an engine with "
            'several networks, such as inference="psghmc".'
        )
    if cost is not None:
        score = _per_cost(score, _checked_costs(cost, len(prediction), how))
    choose = choose_batch if diverse and n > 1 else choose_best
    return choose(prediction, n, score)


def _per_cost(score: Score, cost: np.ndarray) -> Score:
    return lambda prediction: score(prediction) / cost


def _checked_costs(cost: Any, num_rows: int, how: str | Score) -> np.ndarray:
    if how == "confidence_bound":
        raise ValueError(
            'The score "confidence_bound" cannot be divided by a `cost`, because it has no zero. Use '
            '"expected_improvement", or leave the cost out.'
        )
    costs = np.asarray(cost, float)
    if costs.shape != (num_rows,) or not (np.isfinite(costs) & (costs > 0)).all():
        raise ValueError(
            f"The `cost` must be a positive number for each of the {num_rows} rows of the pool. Got "
            f"shape {costs.shape} and a smallest value of {np.min(costs, initial=np.inf):g}."
        )
    return costs


def _with_options(how: str | Score, options: dict[str, Any]) -> Score:
    """Return the score with its options, after a check of their names."""
    if callable(how):
        return partial(how, **options)
    require_one_of("how", how, tuple(SCORES))
    known = getfullargspec(SCORES[how]).kwonlyargs
    for name in options:
        if name not in known:
            raise ValueError(f"The options of {how!r} are {', '.join(known)}. Got {name!r}.")
    if how == "expected_improvement" and "best" not in options:
        raise ValueError(
            "The expected improvement needs the option `best`, the best value so far. Got none; try "
            "best=model.predict(X).min() over the rows measured, or max() to maximise."
        )
    return partial(SCORES[how], **options)
