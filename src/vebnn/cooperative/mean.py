"""Step 1: train the mean network, and with it the networks of the cross-fit folds."""

from typing import Any, NamedTuple

import jax
import numpy as np

from vebnn.cooperative.likelihoods import GaussianNoiseGiven, IsotropicPrior
from vebnn.inference.functions import evaluate_draws
from vebnn.training import Objective, Stage, Trained, Training, pad_rows, train, train_and_refit
from vebnn.types import Dataset, Key, Params


class Split(NamedTuple):
    """Who trains on which rows. Run 0 is the mean network, the others are the folds' networks."""

    train_rows: list[np.ndarray]
    watch_rows: list[np.ndarray]
    final_rows: list[np.ndarray]  # for the refit: training and validation rows together
    fold: np.ndarray  # which fold each row belongs to
    set_aside: np.ndarray  # rows for engines that stop early


def split_rows(
    rng: np.random.Generator,
    num_rows: int,
    num_folds: int,
    validation_fraction: float,
    held_out: np.ndarray | None = None,
) -> Split:
    """Deal rows into folds, and every run's rows into training and validation.

    Args:
      rng: source of the random order.
      num_rows: rows available for training.
      num_folds: number of folds; 0 for none.
      validation_fraction: share of the rows that is set aside for early stopping.
      held_out: row numbers the user set aside for validation; they are watched by every run instead.
    """
    own = np.arange(num_rows)
    fold = rng.permutation(own) % max(num_folds, 1)
    set_aside = rng.permutation(own)[: min(round(validation_fraction * num_rows), num_rows - 1)]
    runs = [own, *(own[fold != number] for number in range(num_folds))]
    if held_out is not None:
        return Split(runs, [held_out] * len(runs), runs, fold, set_aside)
    train, watch = [], []
    for rows in runs:
        # A fold's network may not even be stopped by the rows it is to predict.
        seen, used = np.intersect1d(rows, set_aside), np.setdiff1d(rows, set_aside)
        # With too few rows to set any aside, the training rows themselves are watched.
        enough = len(seen) > 0 and len(used) > 0
        watch.append(seen if enough else rows)
        train.append(used if enough else rows)
    return Split(train, watch, runs, fold, set_aside)


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
    # PyTorch adds decay/2 · θ² to the mean of r², we add precision/2 · θ² to the sum of r²/2.
    num_targets = len(split.train_rows[0]) * data.target[0].size
    decay = IsotropicPrior(np.float32(max(weight_decay, 1e-30) * num_targets / 2))
    objective = Objective(GaussianNoiseGiven(skeleton), decay)
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


class OutOfFold(NamedTuple):
    """What networks that never saw a row say about it."""

    mean: np.ndarray
    variance: np.ndarray  # spread of the fold networks: how far such a mean can be off


def out_of_fold(skeleton: Any, fold_params: Params, split: Split, x: np.ndarray) -> OutOfFold:
    """Predict each row with the network of its fold."""
    every = evaluate_draws(skeleton, fold_params, x)
    mean = every[split.fold, np.arange(len(split.fold))]
    return OutOfFold(mean, every.var(axis=0, ddof=1))
