"""Metrics of predictions: functions of arrays.

Arrays have the shape of the targets, ``(rows,)`` or ``(rows, ..., outputs)``, and must match exactly.
"""

from vebnn.metrics.disentanglement import out_of_distribution_auroc, uncertainty_correlation
from vebnn.metrics.errors import mean_relative_error, rmse, rmse_percent, wasserstein
from vebnn.metrics.intervals import (
    LEVELS,
    Reliability,
    coverage,
    interval_length,
    interval_score,
    reliability,
)
from vebnn.metrics.scores import (
    crps,
    epistemic_log_likelihood,
    log_likelihood,
    mixture_crps,
    mixture_log_likelihood,
)

__all__ = [
    "LEVELS",
    "Reliability",
    "coverage",
    "crps",
    "epistemic_log_likelihood",
    "interval_length",
    "interval_score",
    "log_likelihood",
    "mean_relative_error",
    "mixture_crps",
    "mixture_log_likelihood",
    "out_of_distribution_auroc",
    "reliability",
    "rmse",
    "rmse_percent",
    "uncertainty_correlation",
    "wasserstein",
]
