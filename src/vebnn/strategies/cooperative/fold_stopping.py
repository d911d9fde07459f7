"""The number of epochs of the variance network: the best one of fold networks on unseen rows.

Trained to the end, the variance network memorises the few large residuals, and along a sequence, where
neighbouring residuals are alike, all of them.
"""

import jax
import numpy as np

from vebnn.core.types import Key, ResidualDataset
from vebnn.networks import Network
from vebnn.strategies.fit_data import FitData
from vebnn.training import NegativeLogLikelihood, Objective, Stage, Training, pad_rows, train

# With fewer single rows the best epoch is too noisy an estimate: the network is trained to the end.
FEWEST_ROWS = 201


def stopped_by_folds(rows: FitData) -> bool:
    """Tell whether fold networks decide how long the variance network is trained."""
    return rows.num_folds > 1 and (bool(rows.shapes.steps) or len(rows.data.x) >= FEWEST_ROWS)


def best_epochs_of_folds(
    key: Key,
    objective: Objective,
    monitor: NegativeLogLikelihood,
    start: Network,
    data: ResidualDataset,
    fold: np.ndarray,
    settings: Training,
    stage: Stage,
) -> np.ndarray:
    """Return the number of epochs, ``(1,)``, at which fold networks were best on their unseen rows.

    It is one number, pooled over all rows: those of a single fold are too few.
    """
    folds, own = np.arange(fold.max() + 1), np.arange(len(fold))
    searched = train(
        key,
        objective,
        jax.tree.map(lambda leaf: np.repeat(leaf, len(folds), axis=0), start),
        data,
        pad_rows([own[fold != one] for one in folds]),
        settings,
        watch_rows=pad_rows([own[fold == one] for one in folds]),
        monitor=monitor,
        stage=stage.within("folds"),
    )
    values = searched.history[:, :, 1]
    # A stopped fold keeps its last value.
    last = values[folds, searched.num_epochs - 1]
    values = np.where(np.isnan(values), last[:, None], values)
    counts = np.asarray([data.weight[fold == one].sum() for one in folds])
    # A fold without any observation has no value.
    pooled = np.nansum(counts[:, None] * values, axis=0)
    return np.argmin(pooled, keepdims=True).astype(np.int32) + 1
