"""Step 1: train the mean network, and with it the networks of the cross-fit folds."""

from typing import Any, NamedTuple

import jax
import numpy as np

from vebnn.core.types import Dataset, Key, Params
from vebnn.inference.evaluation import evaluate_draws
from vebnn.likelihoods.log_likelihoods import GaussianNoiseGiven, IsotropicPrior
from vebnn.training import (
    Objective,
    Split,
    Stage,
    Trained,
    Training,
    pad_rows,
    train,
    train_and_refit,
)


def train_means(
    key: Key,
    skeleton: Any,
    starts: Params,
    data: Dataset,
    split: Split,
    settings: Training,
    *,
    weight_decay: float,
    refit: bool,
    stage: Stage,
) -> Trained:
    """Minimise Σ (y − μ)²/variance + L2 for the mean network and all folds at once (eq. 2).

    With ``refit``, each network is trained anew, from the same start, on its training and validation
    rows together, for its best number of epochs.
    """
    key_search, key_refit = jax.random.split(key)
    objective = _objective(skeleton, data, split, weight_decay)
    train_rows, watch_rows = pad_rows(split.train_rows), pad_rows(split.watch_rows)
    if not refit:
        return train(
            key_search,
            objective,
            starts,
            data,
            train_rows,
            settings,
            watch_rows=watch_rows,
            stage=stage,
        )
    refitted, _ = train_and_refit(
        key_search,
        key_refit,
        objective,
        starts,
        data,
        settings,
        train_rows=train_rows,
        watch_rows=watch_rows,
        final_rows=pad_rows(split.final_rows),
        stage=stage,
    )
    return refitted


def best_learning_rate(
    key: Key,
    skeleton: Any,
    starts: Params,
    data: Dataset,
    split: Split,
    settings: Training,
    rates: tuple[float, ...],
    *,
    weight_decay: float,
    stage: Stage,
) -> float:
    """Train the mean network with each learning rate, as one fleet; return the best on watched rows."""
    trained = train(
        key,
        _objective(skeleton, data, split, weight_decay),
        jax.tree.map(lambda leaf: np.repeat(leaf[:1], len(rates), axis=0), starts),
        data,
        pad_rows(split.train_rows[:1] * len(rates)),
        settings,
        watch_rows=pad_rows(split.watch_rows[:1] * len(rates)),
        learning_rate=np.asarray(rates, np.float32),
        stage=stage,
    )
    return rates[int(np.argmin(trained.best_value))]


def _objective(skeleton: Any, data: Dataset, split: Split, weight_decay: float) -> Objective:
    decay = IsotropicPrior.decay(weight_decay, data.weight[split.train_rows[0]], of_squares=True)
    return Objective(GaussianNoiseGiven(skeleton), decay)


class OutOfFold(NamedTuple):
    """What networks that never saw a row say about it."""

    mean: np.ndarray
    variance: np.ndarray  # spread of the fold networks: how far such a mean can be off


def out_of_fold(skeleton: Any, fold_params: Params, split: Split, x: np.ndarray) -> OutOfFold:
    """Predict each row with the network of its fold."""
    every = evaluate_draws(skeleton, fold_params, x)
    mean = every[split.fold, np.arange(len(split.fold))]
    return OutOfFold(mean, every.var(axis=0, ddof=1))
