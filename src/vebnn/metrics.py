"""How good is a prediction: plain functions of arrays."""

import numpy as np
from scipy import stats


def rmse(target: np.ndarray, mean: np.ndarray) -> float:
    """Root mean square error per output, averaged over outputs."""
    return float(np.mean(np.sqrt(np.mean((target - mean) ** 2, axis=0))))


def log_likelihood(target: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> float:
    """Test log-likelihood (TLL): mean of log N(target | mean, variance) over rows and outputs."""
    return float(np.mean(stats.norm.logpdf(target, mean, np.sqrt(variance))))


def coverage(target: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> float:
    """Share of the targets inside their intervals."""
    return float(np.mean((lower <= target) & (target <= upper)))


def mean_relative_error(truth: np.ndarray, estimate: np.ndarray) -> float:
    """Mean of \\|estimate − truth\\| / truth."""
    return float(np.mean(np.abs(estimate - truth) / truth))
