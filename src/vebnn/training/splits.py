"""Who trains on which rows, and who is watched on which."""

from typing import NamedTuple

import numpy as np


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
