"""Intervals: do they hold what they promise, and how long are they?"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from vebnn.core.arguments import require_number
from vebnn.metrics.arrays import matched, require_positive

# The paper's text has 1.0 as well, but the whole line is the only interval of that level.
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

    Proper for the two ends of a central interval, so that it weighs coverage against length (Gneiting
    and Raftery 2007, eq. 43; Winkler 1972). Smaller is better.
    """
    require_number("level", level, 0, 1)
    target, lower, upper = _interval(target, lower, upper)
    outside = np.maximum(lower - target, 0) + np.maximum(target - upper, 0)
    return float(np.mean(upper - lower + 2 / (1 - level) * outside))


class Reliability(NamedTuple):
    """The reliability curve and what it comes to."""

    levels: np.ndarray  # what central intervals promise
    coverage: np.ndarray  # what they hold
    expected_calibration_error: float  # mean of |coverage − level|


def reliability(
    target: np.ndarray, mean: np.ndarray, variance: np.ndarray, levels: Sequence[float] = LEVELS
) -> Reliability:
    """Return coverage of central Gaussian intervals by level, and the expected calibration error (ECE).

    The curve is that of Kuleshov et al. (2018), for central intervals. ECE is the mean of the absolute
    gaps, each level counting the same, as in the paper's table of epistemic ECE.

    Args:
      target: the observations; or the noiseless truth, for epistemic calibration.
      mean: predicted mean.
      variance: total variance; or the epistemic one alone.
      levels: each strictly between 0 and 1.
    """
    target, mean, variance = matched(target=target, mean=mean, variance=variance)
    require_positive("variance", variance)
    if not len(levels):
        raise ValueError("The `levels` must be at least one number. Got none.")
    for level in levels:
        require_number("levels", level, 0, 1)
    promised = np.array(levels, float)
    distance = np.sort(np.abs(target - mean) / np.sqrt(variance), axis=None)
    reach = special.ndtri((1 + promised) / 2)
    held = np.searchsorted(distance, reach, side="right") / distance.size
    return Reliability(promised, held, float(np.mean(np.abs(held - promised))))


def _interval(target: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> list[np.ndarray]:
    target, lower, upper = matched(target=target, lower=lower, upper=upper)
    if crossed := np.sum(lower > upper):
        raise ValueError(
            f"The `lower` end must not be above the `upper` one. Got {crossed} of {lower.size} crossed."
        )
    return [target, lower, upper]
