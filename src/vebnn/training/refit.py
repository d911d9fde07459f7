"""Training to the best epoch on validation rows; then, as in the paper, again on all rows."""

from vebnn.core.types import AnyDataset, Array, Key, Params
from vebnn.training.loop import Monitor, Trained, Training, train
from vebnn.training.objective import Objective
from vebnn.training.stage import PlannedStage, Stage

REFIT = "all rows"  # the second training


def planned_training(
    name: str, settings: Training, networks: int = 1, *, refit: bool
) -> list[PlannedStage]:
    """Return the stages of a training; early stopping ends most of them half-way."""
    epochs = settings.num_epochs if settings.patience is None else settings.num_epochs // 2
    names = [name, f"{name} · {REFIT}"] if refit else [name]
    return [PlannedStage(one, epochs, networks) for one in names]


def train_to_best_epoch(
    key_search: Key,
    key_refit: Key,
    objective: Objective,
    starts: Params,
    data: AnyDataset,
    settings: Training,
    *,
    train_rows: Array,
    watch_rows: Array,
    final_rows: Array | None,
    monitor: Monitor | None = None,
    stage: Stage,
) -> tuple[Trained, Array]:
    """Find each run's best epoch on validation rows; return the runs and these epochs.

    Args:
      train_rows: ``(runs, n)`` rows the search trains on.
      watch_rows: ``(runs, m)`` validation rows of the search.
      final_rows: ``(runs, k)`` rows of a second training from the same starts, for the best number of
        epochs; None keeps the runs of the search.

    All others are those of :func:`~vebnn.training.train`.
    """
    fleet = (objective, starts, data)
    watched = {"watch_rows": watch_rows, "monitor": monitor}
    searched = train(key_search, *fleet, train_rows, settings, **watched, stage=stage)
    if final_rows is None:
        return searched, searched.best_epoch
    epochs, stage = searched.best_epoch, stage.within(REFIT)
    return train(key_refit, *fleet, final_rows, settings, num_epochs=epochs, stage=stage), epochs
