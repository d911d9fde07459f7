"""Errors: distances of a predicted mean or noise from observations or the truth."""

import numpy as np

from vebnn.metrics.arrays import by_output, matched, require_not_negative, require_positive


def rmse(target: np.ndarray, mean: np.ndarray) -> float:
    """Root mean square error per output, averaged over outputs.

    For one output it is the paper's eq. "RMSE, for MLP". For several, the paper's equation sums the
    squares of all outputs under one root; an average does not grow with their number.
    """
    target, mean = matched(target=target, mean=mean)
    return float(np.mean(np.sqrt(np.mean(by_output(target - mean) ** 2, axis=0))))


def rmse_percent(truth: np.ndarray, mean: np.ndarray) -> float:
    """Error of sequences in percent of their size (paper, eq. "RMSE, for RNN").

    100 · ‖mean − truth‖₂ / ‖truth‖₂ with norms over time (all axes between the first and the last),
    averaged over rows and outputs. Arrays are ``(rows, ..., outputs)`` with at least one axis between.
    """
    truth, mean = matched(truth=truth, mean=mean)
    if truth.ndim < 3:
        raise ValueError(f"The `truth` must have shape (rows, time, outputs). Got {truth.shape}.")
    axes = tuple(range(1, truth.ndim - 1))
    size = np.sqrt(np.sum(truth**2, axis=axes))
    if not size.all():
        raise ValueError(
            f"The `truth` must not be zero over a whole sequence, because a percentage of zero has no "
            f"meaning. Got {np.sum(size == 0)} such sequences; leave them out."
        )
    return float(100 * np.mean(np.sqrt(np.sum((mean - truth) ** 2, axis=axes)) / size))


def wasserstein(
    truth_mean: np.ndarray, truth_std: np.ndarray, mean: np.ndarray, std: np.ndarray
) -> float:
    """Wasserstein distance (WA) of predicted mean and aleatoric std from the true ones.

    The 2-Wasserstein distance of two Gaussians on the line is √(Δmean² + Δstd²) (paper, eq. "WA";
    Givens and Shortt 1984, Prop. 7). It is averaged over rows, time and outputs, where the paper's
    equation has all outputs under one root. Standardise outputs of different units first.
    """
    truth_mean, truth_std, mean, std = matched(
        truth_mean=truth_mean, truth_std=truth_std, mean=mean, std=std
    )
    require_not_negative("truth_std", truth_std)
    require_not_negative("std", std)
    return float(np.mean(np.hypot(truth_mean - mean, truth_std - std)))


def mean_relative_error(truth: np.ndarray, estimate: np.ndarray) -> float:
    """Mean of \\|estimate − truth\\| / truth, for an estimate of a known noise std."""
    truth, estimate = matched(truth=truth, estimate=estimate)
    require_positive("truth", truth)
    return float(np.mean(np.abs(estimate - truth) / truth))
