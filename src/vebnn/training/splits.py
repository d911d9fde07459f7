"""Splits: the training, validation and fold rows of every run."""

from typing import NamedTuple

import numpy as np

from vebnn.core.groups import balanced_folds, take_groups


class Split(NamedTuple):
    """Rows of every run. Run 0 is the mean network, the others are the fold networks."""

    train_rows: list[np.ndarray]
    watch_rows: list[np.ndarray]
    final_rows: list[np.ndarray]  # for the refit: training and validation rows together
    fold: np.ndarray  # of each row
    set_aside: np.ndarray  # validation rows for engines with early stopping


def split_rows(
    rng: np.random.Generator,
    num_rows: int,
    num_folds: int,
    validation_fraction: float,
    held_out: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> Split:
    """Assign rows to folds at random, and every run's rows to training and validation.

    The rows of a group are in one fold, and on one side of every split.

    Args:
      num_folds: number of folds, at most that of the groups; 0 for none.
      validation_fraction: share of the rows that is set aside for early stopping.
      held_out: row numbers the user set aside; every run then has these as validation rows.
      groups: the number of each row's group, counted from 0; None if every row is one.
    """
    own = np.arange(num_rows, dtype=np.int32)
    group = own if groups is None else groups
    numbers = np.arange(group.max() + 1)
    fold = balanced_folds(rng.permutation(numbers), group, max(num_folds, 1))
    wanted = min(round(validation_fraction * num_rows), num_rows - 1)
    set_aside = take_groups(rng.permutation(numbers), group, wanted)
    runs = [own, *(own[fold != number] for number in range(num_folds))]
    if held_out is not None:
        return Split(runs, [held_out] * len(runs), runs, fold, set_aside)
    train, watch = [], []
    for rows in runs:
        # The rows a fold network predicts must not stop it early either.
        seen, used = np.intersect1d(rows, set_aside), np.setdiff1d(rows, set_aside)
        if len(numbers) < num_rows and not (len(seen) and len(used)):
            # With few large groups, a run may have only such rows, or none: it sets its own aside.
            order = rng.permutation(np.unique(group[rows]))
            seen = rows[take_groups(order, group[rows], round(validation_fraction * len(rows)))]
            used = np.setdiff1d(rows, seen)
        # With too few rows to set any aside, the training rows serve as validation rows.
        enough = len(seen) > 0 and len(used) > 0
        watch.append(seen if enough else rows)
        train.append(used if enough else rows)
    return Split(train, watch, runs, fold, set_aside)
