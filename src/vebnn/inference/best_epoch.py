"""Training as the paper does it: search the best epoch, then train anew on all rows."""

import jax
import numpy as np

from vebnn.inference.problem import Problem
from vebnn.training import Stage, Trained, Training, all_rows, pad_rows, train
from vebnn.types import Array, Key, Params


def train_for_best_epoch(
    key_search: Key,
    key_refit: Key,
    problem: Problem,
    starts: Params,
    settings: Training,
    stage: Stage,
) -> tuple[Trained, Array]:
    """Maximise the posterior from each start, for as many epochs as validation rows approve of.

    Args:
      key_search: random key of the search for the best epoch.
      key_refit: random key of the training on all rows.
      problem: the posterior; its ``validation_rows`` are watched and not trained on in the search.
      starts: start parameters, stacked over runs.
      settings: epochs, learning rate, batch size and patience.
      stage: name and watcher of this piece of work.

    Returns:
      The runs that were trained on all rows, from the same starts, and each one's best epoch.
    """
    num_runs = jax.tree.leaves(starts)[0].shape[0]
    rows = np.arange(len(problem.data.x))
    # With too few rows to set any aside, the training rows themselves are watched.
    watch = problem.validation_rows if len(problem.validation_rows) else rows
    kept = np.setdiff1d(rows, problem.validation_rows)
    searched = train(
        key_search,
        problem.objective,
        starts,
        problem.data,
        pad_rows([kept] * num_runs),
        settings,
        watch_rows=pad_rows([watch] * num_runs),
        stage=stage.within("best epoch"),
    )
    refitted = train(
        key_refit,
        problem.objective,
        starts,
        problem.data,
        all_rows(len(rows), num_runs),
        settings,
        num_epochs=searched.best_epoch,
        stage=stage.within("all rows"),
    )
    return refitted, searched.best_epoch
