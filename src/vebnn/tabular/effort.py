"""How long to train: every engine's own settings, stretched or shortened."""

from typing import Any

from vebnn.core.arguments import require_one_of
from vebnn.estimators import VeBNNRegressor
from vebnn.inference import ENGINES
from vebnn.presets import default_mean_training, default_variance_training, stretched

EFFORTS = {"quick": 0.25, "normal": 1.0, "thorough": 4.0}


def new_estimator(num_rows: int, *, inference: str, effort: str, **settings: Any) -> VeBNNRegressor:
    """Return an estimator whose trainings and chains are as long as asked for.

    Args:
      num_rows: rows to train on.
      inference: name of an engine.
      effort: one of :data:`EFFORTS`; ``"normal"`` is the estimator's own defaults.
      settings: other arguments of the estimator.
    """
    require_one_of("inference", inference, tuple(ENGINES))
    require_one_of("effort", effort, tuple(EFFORTS))
    factor = EFFORTS[effort]
    if factor == 1:
        return VeBNNRegressor(inference=inference, **settings)
    return VeBNNRegressor(
        inference=stretched(ENGINES[inference].for_rows(num_rows), factor),
        mean_training=stretched(default_mean_training(num_rows), factor),
        variance_training=stretched(default_variance_training(num_rows), factor),
        **settings,
    )
