"""Intervals: coverage, length, score and reliability."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from vebnn.core.arguments import require_number
from vebnn.metrics.arrays import matched, require_positive

# The paper's text adds 1.0, but only the whole line is an interval of that level.
LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def coverage(target: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> float:
    """Test coverage (TC): share of targets inside their intervals, ends included (paper, eq. "TC")."""
    target, lower, upper = _interval(target, lower, upper)
    return float(np.mean((lower <= target) & (target <= upper)))


def interval_length(lower: np.ndarray, upper: np.ndarray) -> float:
    """Test interval length (TIL): mean of upper − lower (paper, eq. "TIL")."""
    _, lower, upper = _interval(lower, lower, upper)
    return float(np.mean(upper - lower))


def interval_score(target: np.ndarray, lower: np.ndarray, upper: np.ndarray, level: float) -> float:
    """Interval (Winkler) score: the length, plus 2/(1 − level) times the distance of a target outside.

    A proper score of the two ends of a central interval (Gneiting and Raftery 2007, eq. 43; Winkler
    1972). Smaller is better.
    """
    require_number("level", level, 0, 1)
    target, lower, upper = _interval(target, lower, upper)
    outside = np.maximum(lower - target, 0) + np.maximum(target - upper, 0)
    return float(np.mean(upper - lower + 2 / (1 - level) * outside))


class Reliability(NamedTuple):
    """The reliability curve and its distance from the diagonal."""

    levels: np.ndarray  # nominal coverage of central intervals
    coverage: np.ndarray  # observed
    expected_calibration_error: float  # mean of |coverage − level|


def reliability(
    target: np.ndarray, mean: np.ndarray, variance: np.ndarray, levels: Sequence[float] = LEVELS
) -> Reliability:
    """Return coverage of central Gaussian intervals by level, and the expected calibration error (ECE).

    The curve is that of Kuleshov et al. (2018), for central intervals. ECE is the unweighted mean of
    the absolute gaps; with the noiseless truth and the epistemic variance, the paper's epistemic ECE.
    """
    target, mean, variance = matched(target=target, mean=mean, variance=variance)
    require_positive("variance", variance)
    if not len(levels):
        raise ValueError("The `levels` must be at least one number. Got none.")
    for level in levels:
        require_number("levels", level, 0, 1)
    nominal = np.array(levels, float)
    distance = np.sort(np.abs(target - mean) / np.sqrt(variance), axis=None)
    reach = special.ndtri((1 + nominal) / 2)
    observed = np.searchsorted(distance, reach, side="right") / distance.size
    return Reliability(nominal, observed, float(np.mean(np.abs(observed - nominal))))


def _interval(target: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> list[np.ndarray]:
    target, lower, upper = matched(target=target, lower=lower, upper=upper)
    if crossed := np.sum(lower > upper):
        raise ValueError(
            f"The `lower` end must not be above the `upper` one. Got {crossed} of {lower.size} crossed."
        )
    return [target, lower, upper]
