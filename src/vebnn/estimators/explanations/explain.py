"""Explain predictions of a fitted estimator."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from vebnn.core.arguments import require_whole
from vebnn.estimators.explanations.explanation import OUTPUTS, Attribution, Explanation
from vebnn.estimators.explanations.shapley import (
    MOST_EXACT,
    all_coalitions,
    sampled_orders,
    shapley_values,
)
from vebnn.estimators.rows import snapshot
from vebnn.prediction import Prediction

BACKGROUND_ROWS = 64  # training rows to compare with, unless the user gives others


def explain(
    model: Any,
    X: Any,
    background: Any,
    groups: Mapping[str, Sequence[int]] | None,
    num_permutations: int,
    random_state: Any,
) -> Explanation:
    """Return what :meth:`vebnn.VeBNNRegressor.explain` documents."""
    require_whole("num_permutations", num_permutations, 2)
    check_is_fitted(model)
    if len(model.in_shape_) != 1:
        raise ValueError(
            f"The `model` must take rows of features to be explained. Got one of inputs of shape "
            f"{model.in_shape_}, such as sequences or images."
        )
    features = _features(groups, model)
    gaps = model.gaps_
    players = [
        [one for feature in members for one in (gaps.inputs_of(feature) if gaps else (feature,))]
        for members in features.values()
    ]
    model = snapshot(model)  # another thread may fit this one again
    rows, _ = model._inputs(X)
    others = _training_rows(model) if background is None else model._inputs(background)[0]
    index = getattr(X, "index", None) if hasattr(X, "columns") else None
    return explain_function(
        model._predicted,
        rows,
        others,
        dict(zip(features, players, strict=True)),
        target_names=model.target_names_,
        index=index,
        num_permutations=num_permutations,
        random_state=random_state,
    )


def explain_function(
    predict: Callable[[np.ndarray], Prediction],
    rows: np.ndarray,
    background: np.ndarray,
    inputs_of: Mapping[str, Sequence[int]],
    *,
    target_names: tuple[str, ...] | None,
    index: Any,
    num_permutations: int = 256,
    random_state: Any = 0,
) -> Explanation:
    """Explain what a function predicts of rows of inputs, ``(rows, inputs)``.

    ``inputs_of`` names what is explained: a feature or column, and the numbers of its inputs.
    """
    players = list(inputs_of.values())
    if len(players) <= MOST_EXACT:
        game = all_coalitions(len(players), len(background))
    else:
        seed = check_random_state(random_state).randint(2**31 - 1)
        rng = np.random.default_rng(seed)
        game = sampled_orders(len(players), len(background), num_permutations, rng)

    def three(x: np.ndarray) -> np.ndarray:
        """Return the outputs, one after another, ``(rows, 3)`` or ``(rows, 3, targets)``."""
        prediction = predict(x)
        return np.stack([getattr(prediction, name) for name in OUTPUTS], 1)

    def outputs(x: np.ndarray) -> np.ndarray:
        return three(x).reshape(len(x), -1)

    base, predicted = three(background).mean(0), three(rows)
    values = shapley_values(outputs, rows, background, players, game)
    values = values.reshape(*values.shape[:2], *base.shape)
    parts = {
        name: Attribution(base[at], values[:, :, at], predicted[:, at])
        for at, name in enumerate(OUTPUTS)
    }
    return Explanation(tuple(inputs_of), **parts, target_names=target_names, index=index)


def some_background(rows: np.ndarray) -> np.ndarray:
    """Return as many rows as one compares with, spread evenly."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, BACKGROUND_ROWS).round().astype(int))]


def _training_rows(model: Any) -> np.ndarray:
    """Return some of the training rows that every fitted model keeps, standardised."""
    return some_background(model.fitted_.probe_x)


def _features(groups: Mapping[str, Sequence[int]] | None, model: Any) -> dict[str, list[int]]:
    """Return the numbers of the features in each group; without groups, each is alone."""
    count = model.n_features_in_
    if groups is None:
        named = getattr(model, "feature_names_in_", [f"x{number}" for number in range(count)])
        return {str(name): [number] for number, name in enumerate(named)}
    features = {str(name): [int(one) for one in inputs] for name, inputs in groups.items()}
    every = sorted(number for inputs in features.values() for number in inputs)
    if every != list(range(count)) or not all(features.values()):
        raise ValueError(
            f"The `groups` must hold each of the inputs 0 to {count - 1} once. Got {dict(groups)!r}."
        )
    return features
