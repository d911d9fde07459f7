"""What a method says about new rows, and how good that is."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from vebnn.metrics import (
    coverage,
    crps,
    interval_length,
    interval_score,
    log_likelihood,
    reliability,
    rmse,
)

LEVEL = 0.95


class Forecast(NamedTuple):
    """A prediction of any method, of the shape of the targets and in their units."""

    mean: np.ndarray
    variance: np.ndarray  # of a new observation: noise and ignorance
    interval: tuple[np.ndarray, np.ndarray] | None = None  # of 95 %; None: the Gaussian's
    notes: Mapping[str, Any] = {}  # kept in the row of results, for those who look closer


def scores(forecast: Forecast, y: np.ndarray) -> dict[str, Any]:
    """Return the numbers of a row: the paper's four, and those it leaves out.

    The density is Gaussian, as the paper's TLL takes it, whatever the method believes.
    """
    mean, variance = forecast.mean, forecast.variance
    half = special.ndtri((1 + LEVEL) / 2) * np.sqrt(variance)
    lower, upper = forecast.interval or (mean - half, mean + half)
    return {
        "tll": log_likelihood(y, mean, variance),
        "rmse": rmse(y, mean),
        "coverage": coverage(y, lower, upper),
        "interval_length": interval_length(lower, upper),
        "crps": crps(y, mean, variance),
        "ece": reliability(y, mean, variance).expected_calibration_error,
        "winkler": interval_score(y, lower, upper, LEVEL),
        **forecast.notes,
    }
