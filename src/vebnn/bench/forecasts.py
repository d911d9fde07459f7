"""The forecast that every compared method returns, and its scores."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from vebnn import metrics

LEVEL = 0.95


class Forecast(NamedTuple):
    """A prediction with the shape and the units of the targets."""

    mean: np.ndarray
    variance: np.ndarray  # of a new observation: aleatoric and epistemic
    interval: tuple[np.ndarray, np.ndarray] | None = None  # of 95 %; None: the Gaussian's
    notes: Mapping[str, Any] = {}  # copied to the row of results


# Takes training inputs, training targets, new inputs and a seed.
Forecaster = Callable[[np.ndarray, np.ndarray, np.ndarray, int], Forecast]


def scores(forecast: Forecast, y: np.ndarray) -> dict[str, Any]:
    """Return the numbers of a row: the paper's four, CRPS, ECE and interval score.

    The density is Gaussian for every method, as in the paper's TLL.
    """
    mean, variance = forecast.mean, forecast.variance
    half = special.ndtri((1 + LEVEL) / 2) * np.sqrt(variance)
    lower, upper = forecast.interval or (mean - half, mean + half)
    return {
        "tll": metrics.log_likelihood(y, mean, variance),
        "rmse": metrics.rmse(y, mean),
        "coverage": metrics.coverage(y, lower, upper),
        "interval_length": metrics.interval_length(lower, upper),
        "crps": metrics.crps(y, mean, variance),
        "ece": metrics.reliability(y, mean, variance).expected_calibration_error,
        "winkler": metrics.interval_score(y, lower, upper, LEVEL),
        **forecast.notes,
    }
