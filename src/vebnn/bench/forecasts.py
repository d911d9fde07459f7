"""The forecast that every compared method returns, and its scores."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from vebnn import metrics
from vebnn.prediction import Components, Prediction, crps, in_user_units
from vebnn.prediction.targets import Target

LEVEL = 0.95


class Transformed(NamedTuple):
    """Where the distribution of a target is Gaussian that is learned on another scale, z."""

    target: Target  # the kind
    mean: np.ndarray  # of z
    variance: np.ndarray  # of a new observation of z

    def prediction(self) -> Prediction:
        """Return the distribution of y, as all of it were noise."""
        return in_user_units(_gaussian(self.mean, self.variance, 0 * self.mean), (self.target,))


class Forecast(NamedTuple):
    """A prediction with the shape and the units of the targets."""

    mean: np.ndarray
    variance: np.ndarray  # of a new observation: aleatoric and epistemic
    interval: tuple[np.ndarray, np.ndarray] | None = None  # of 95 %; None: the Gaussian's
    notes: Mapping[str, Any] = {}  # copied to the row of results
    # The aleatoric part of the variance; None: the method does not tell the parts apart.
    noise_variance: np.ndarray | None = None
    # The distribution; None: the Gaussian with this mean and variance.
    transformed: Transformed | None = None
    raw_variance: np.ndarray | None = None  # before calibration; None: it was not calibrated

    @property
    def noise_std(self) -> np.ndarray | None:
        """Std of the noise, or ``None`` if the method does not split its variance."""
        return None if self.noise_variance is None else np.sqrt(self.noise_variance)

    @property
    def epistemic_std(self) -> np.ndarray | None:
        """Std of the mean, or ``None`` if the method has none, as a single network."""
        if self.noise_variance is None:
            return None
        # Rounding can make the difference negative.
        std = np.sqrt(np.maximum(self.variance - self.noise_variance, 0))
        return std if std.any() else None

    def total_interval(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the 95 % interval of new observations."""
        return self.interval or central_interval(self.mean, np.sqrt(self.variance))

    def rows(self, some: slice | np.ndarray) -> "Forecast":
        """Return the forecast of some of the rows."""
        interval = self.interval and (self.interval[0][some], self.interval[1][some])
        noise = None if self.noise_variance is None else self.noise_variance[some]
        scale = self.transformed
        if scale is not None:
            scale = Transformed(scale.target, scale.mean[some], scale.variance[some])
        return Forecast(self.mean[some], self.variance[some], interval, self.notes, noise, scale)

    def in_units_of(self, target: Target) -> "Forecast":
        """Return the forecast of a target from that of its transformed values, ``(rows,)``."""
        noise = self.variance if self.noise_variance is None else self.noise_variance
        law = _gaussian(self.mean, noise, np.maximum(self.variance - noise, 0))
        y = in_user_units(law, (target,))
        lower, upper = map(target.inverse, self.total_interval())
        return Forecast(
            y.mean,
            y.variance,
            (lower, upper),
            self.notes,
            None if self.noise_variance is None else y.aleatoric_variance,
            Transformed(target, self.mean, self.variance),
        )


def _gaussian(mean: np.ndarray, noise: np.ndarray, epistemic: np.ndarray) -> Prediction:
    variance = (noise + epistemic)[None]
    return Prediction(mean, noise, epistemic, lambda: Components.of_draws(mean[None], variance))


def central_interval(mean: np.ndarray, std: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the central 95 % interval of a Gaussian."""
    half = special.ndtri((1 + LEVEL) / 2) * std
    return mean - half, mean + half


# Takes training inputs, training targets, new inputs and a seed.
Forecaster = Callable[[np.ndarray, np.ndarray, np.ndarray, int], Forecast]


def scores(forecast: Forecast, y: np.ndarray) -> dict[str, Any]:
    """Return the numbers of a row: the paper's four, CRPS, ECE and interval score.

    The density is Gaussian for every method, as in the paper's TLL, unless the target is transformed:
    then it is that of the target, or the probability of a whole number.
    """
    lower, upper = forecast.total_interval()
    return {
        **_scores_of_distribution(forecast, y),
        "rmse": metrics.rmse(y, forecast.mean),
        "coverage": metrics.coverage(y, lower, upper),
        "interval_length": metrics.interval_length(lower, upper),
        "winkler": metrics.interval_score(y, lower, upper, LEVEL),
        **_raw_scores(forecast, y),
        **forecast.notes,
    }


def _raw_scores(forecast: Forecast, y: np.ndarray) -> dict[str, float]:
    if forecast.raw_variance is None:
        return {}
    lower, upper = central_interval(forecast.mean, np.sqrt(forecast.raw_variance))
    return {
        "raw_tll": metrics.log_likelihood(y, forecast.mean, forecast.raw_variance),
        "raw_coverage": metrics.coverage(y, lower, upper),
    }


def _scores_of_distribution(forecast: Forecast, y: np.ndarray) -> dict[str, float]:
    mean, variance, scale = forecast.mean, forecast.variance, forecast.transformed
    if scale is None:
        return {
            "tll": metrics.log_likelihood(y, mean, variance),
            "crps": metrics.crps(y, mean, variance),
            "ece": metrics.reliability(y, mean, variance).expected_calibration_error,
        }
    prediction, z = scale.prediction(), scale.target.transform(y)
    return {
        "tll": float(np.mean(prediction.log_prob(y))),
        "crps": float(np.mean(crps(prediction, y))),
        "ece": metrics.reliability(z, scale.mean, scale.variance).expected_calibration_error,
    }
