"""The paper's training: find the best epoch, then train again on all rows."""

from vebnn.core.types import Array, Key, Params, Rows
from vebnn.training.loop import Monitor, Trained, Training, train
from vebnn.training.objective import Objective
from vebnn.training.stage import Stage


def train_and_refit(
    key_search: Key,
    key_refit: Key,
    objective: Objective,
    starts: Params,
    data: Rows,
    settings: Training,
    *,
    train_rows: Array,
    watch_rows: Array,
    final_rows: Array,
    monitor: Monitor | None = None,
    stage: Stage,
) -> tuple[Trained, Array]:
    """Find each run's best epoch on validation rows, then train it again for that many epochs.

    Args:
      key_search: random key of the search for the best epoch.
      key_refit: random key of the training on all rows.
      objective: the negative log posterior.
      starts: start parameters, stacked over runs.
      data: the rows of all runs.
      settings: epochs, learning rate, batch size and patience.
      train_rows: ``(runs, n)`` rows the search trains on.
      watch_rows: ``(runs, m)`` validation rows of the search.
      final_rows: ``(runs, k)`` rows of the second training; usually both together.
      monitor: the criterion; by default the negative log-likelihood.
      stage: progress and checkpoints of the work.

    Returns:
      The second training's runs, from the same starts, and each one's best epoch.
    """
    searched = train(
        key_search,
        objective,
        starts,
        data,
        train_rows,
        settings,
        watch_rows=watch_rows,
        monitor=monitor,
        stage=stage,
    )
    refitted = train(
        key_refit,
        objective,
        starts,
        data,
        final_rows,
        settings,
        num_epochs=searched.best_epoch,
        stage=stage.within("all rows"),
    )
    return refitted, searched.best_epoch
