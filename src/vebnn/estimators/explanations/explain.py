"""Explain predictions of a fitted estimator."""

from collections.abc import Mapping, Sequence
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
    if len(players) <= MOST_EXACT:
        game = all_coalitions(len(players), len(others))
    else:
        seed = check_random_state(random_state).randint(2**31 - 1)
        rng = np.random.default_rng(seed)
        game = sampled_orders(len(players), len(others), num_permutations, rng)

    def outputs(x: np.ndarray) -> np.ndarray:
        """Return the three outputs, one after another, ``(rows, 3 · targets)``."""
        prediction = model._predicted(x)
        return np.stack([getattr(prediction, name) for name in OUTPUTS], 1).reshape(len(x), -1)

    shape = (len(OUTPUTS),) if model.one_output_ else (len(OUTPUTS), -1)
    base = outputs(others).mean(0).reshape(shape)
    predicted = outputs(rows).reshape(len(rows), *shape)
    values = shapley_values(outputs, rows, others, players, game)
    values = values.reshape(*values.shape[:2], *shape)
    parts = {
        name: Attribution(base[at], values[:, :, at], predicted[:, at])
        for at, name in enumerate(OUTPUTS)
    }
    index = getattr(X, "index", None) if hasattr(X, "columns") else None
    return Explanation(tuple(features), **parts, target_names=model.target_names_, index=index)


def _training_rows(model: Any) -> np.ndarray:
    """Return some of the training rows that every fitted model keeps, standardised."""
    kept: np.ndarray = model.fitted_.probe_x
    return kept[np.unique(np.linspace(0, len(kept) - 1, BACKGROUND_ROWS).round().astype(int))]


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
