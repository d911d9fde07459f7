"""How long to train: each engine's own settings, longer or shorter."""

from typing import Any

from vebnn.core.arguments import require_one_of
from vebnn.estimators import VeBNNRegressor
from vebnn.inference import ENGINES
from vebnn.presets import default_mean_training, default_variance_training, stretched

EFFORTS = {"quick": 0.25, "normal": 1.0, "thorough": 4.0}


def new_estimator(num_rows: int, *, inference: str, effort: str, **settings: Any) -> VeBNNRegressor:
    """Return an estimator with lengths for an effort; ``"normal"`` keeps the estimator's defaults."""
    require_one_of("inference", inference, tuple(ENGINES))
    require_one_of("effort", effort, tuple(EFFORTS))
    if effort == "normal":
        return VeBNNRegressor(inference=inference, **settings)
    factor = EFFORTS[effort]
    return VeBNNRegressor(
        inference=stretched(ENGINES[inference].for_rows(num_rows), factor),
        mean_training=stretched(default_mean_training(num_rows), factor),
        variance_training=stretched(default_variance_training(num_rows), factor),
        **settings,
    )
