"""How Ensemble and MCDropout train: to the best epoch, by rows that are set aside."""

import jax
import numpy as np

from vebnn.core.types import Array, Key, Params
from vebnn.inference.problem import Problem
from vebnn.training import Stage, Trained, Training, all_rows, pad_rows, train, train_and_refit


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
      problem: the posterior; its ``validation_rows`` are watched and not trained on in the search. If
        it has rows ``held_out``, these are watched, and the search, on all rows, is all there is.
      starts: start parameters, stacked over runs.
      settings: epochs, learning rate, batch size and patience.
      stage: name and watcher of this piece of work.

    Returns:
      The runs that were trained on all rows, from the same starts, and each one's best epoch.
    """
    num_runs = jax.tree.leaves(starts)[0].shape[0]
    rows = np.arange(len(problem.data.x))
    if problem.held_out is not None:
        data = jax.tree.map(lambda *parts: np.concatenate(parts), problem.data, problem.held_out)
        watch = np.arange(len(rows), len(data.x))
        trained = train(
            key_search,
            problem.objective,
            starts,
            data,
            all_rows(len(rows), num_runs),
            settings,
            watch_rows=pad_rows([watch] * num_runs),
            monitor=problem.monitor,
            stage=stage,
        )
        return trained, trained.best_epoch
    # With too few rows to set any aside, the training rows themselves are watched.
    watch = problem.validation_rows if len(problem.validation_rows) else rows
    kept = np.setdiff1d(rows, problem.validation_rows)
    return train_and_refit(
        key_search,
        key_refit,
        problem.objective,
        starts,
        problem.data,
        settings,
        train_rows=pad_rows([kept] * num_runs),
        watch_rows=pad_rows([watch] * num_runs),
        final_rows=all_rows(len(rows), num_runs),
        monitor=problem.monitor,
        stage=stage,
    )
