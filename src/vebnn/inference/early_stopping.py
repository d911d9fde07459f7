"""Training to the best epoch on validation rows, for Ensemble and MCDropout."""

import jax
import numpy as np

from vebnn.core.types import Array, Key
from vebnn.inference.engine import Problem
from vebnn.networks import Network
from vebnn.training import Stage, Trained, Training, all_rows, pad_rows, train, train_and_refit


def train_to_best_epoch(
    key_search: Key,
    key_refit: Key,
    problem: Problem,
    starts: Network,
    settings: Training,
    stage: Stage,
) -> tuple[Trained, Array]:
    """Maximise the posterior from each start, to the best epoch on validation rows.

    With rows ``held_out`` in the problem, these decide, and one training on all rows is enough.
    Otherwise the search for the best epoch leaves the ``validation_rows`` out, and a second training
    uses all rows.

    Returns:
      The runs trained on all rows, from the same starts, and each one's best epoch.
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
    # With too few rows to set any aside, the training rows themselves decide.
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
