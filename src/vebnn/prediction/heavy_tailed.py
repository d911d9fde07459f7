"""The distribution of real targets whose noise is Student-t, around a mean that is uncertain.

A Student-t is a Gaussian whose precision τ is uncertain (:mod:`vebnn.likelihoods.student`). With an
uncertain mean N(m, e), an observation is N(m, s²/τ + e), averaged over τ: a mixture of Gaussians, whose
components are values of log τ with even spacing (trapezoidal rule). Its log-densities have errors below
1e-6 up to 100 stds from the mean.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special, stats

from vebnn.prediction.bisection import mixture_quantiles
from vebnn.prediction.components import Components
from vebnn.prediction.gaussian import Gaussian
from vebnn.prediction.law import Kind, Law

if TYPE_CHECKING:
    from vebnn.prediction.prediction import Prediction

NUM_PRECISIONS = 64


@dataclass(frozen=True, eq=False)
class HeavyTailed(Law):
    """Student-t noise around N(mean, epistemic variance), or around the means of all draws."""

    moments: "Prediction"

    @property
    def freedom(self) -> np.ndarray:
        """Degrees of freedom, a number or one for each output."""
        return np.asarray(self.moments.degrees_of_freedom, float)

    @property
    def draws(self) -> np.ndarray:
        """Mean of every draw."""
        return Gaussian(self.moments).draws

    def quantile(self, levels: np.ndarray, kind: Kind) -> np.ndarray:
        """Return quantiles, by bisection."""
        if kind == "gaussian":
            return self._by_precision.quantile(levels, "mixture")
        levels = levels.reshape(levels.shape + (1,) * self.moments.mean.ndim)
        mean, scale, _ = self._of_draws()
        return mixture_quantiles(
            levels,
            lambda y: self.cdf(y, "mixture"),
            lambda level: mean + scale * special.stdtrit(self.freedom, level),
            self.moments.mean.shape,
        )

    def interval(self, level: float, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
        """Return mean ± reach · std if a reach is given, else two quantiles."""
        if self.moments.interval_reach is not None:
            return Gaussian(self.moments).interval(level, kind)
        lower, upper = self.quantile(np.array([(1 - level) / 2, (1 + level) / 2]), kind)
        return lower, upper

    def noise_interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the quantiles of the Student-t around the mean."""
        scale = np.sqrt(self._squared_scale(self.moments.aleatoric_variance))
        half = scale * special.stdtrit(self.freedom, (1 + level) / 2)
        return self.moments.mean - half, self.moments.mean + half

    def mean_interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return mean ± reach · epistemic std."""
        return Gaussian(self.moments).mean_interval(level)

    def standardised_error(self, y: np.ndarray) -> np.ndarray:
        """Return the errors of a Gaussian that are as improbable."""
        distance = y - self.moments.mean
        beyond = self.cdf(self.moments.mean - np.abs(distance), "gaussian")
        return -np.sign(distance) * special.ndtri(np.maximum(beyond, np.finfo(float).tiny))

    def log_prob(self, y: np.ndarray, kind: Kind) -> np.ndarray:
        """Return log-densities."""
        if kind == "gaussian":
            return self._by_precision.log_prob(y, "mixture")
        mean, scale, weight = self._of_draws()
        by_component = stats.t.logpdf(y, self.freedom, mean, scale)
        return special.logsumexp(by_component, axis=(0, 1), b=weight / len(mean))

    def cdf(self, y: np.ndarray, kind: Kind) -> np.ndarray:
        """Return the probability of values up to y."""
        if kind == "gaussian":
            return self._by_precision.cdf(y, "mixture")
        mean, scale, weight = self._of_draws()
        below = special.stdtr(self.freedom, (y - mean) / scale)
        return np.mean(np.sum(weight * below, axis=1), axis=0)

    def sample(self, num_samples: int, kind: Kind, rng: np.random.Generator) -> np.ndarray:
        """Draw a mean, and Student-t noise around it."""
        shape = (num_samples, *self.moments.mean.shape)
        noise = rng.standard_t(self.freedom, shape)
        if kind == "gaussian":
            scale = np.sqrt(self._squared_scale(self.moments.aleatoric_variance))
            centre = self.moments.mean + self.moments.epistemic_std * rng.standard_normal(shape)
            return centre + scale * noise
        mean, scale = np.broadcast_arrays(*self._of_draws()[:2])
        chosen = rng.integers(len(mean), size=num_samples)
        return mean[chosen, 0] + scale[chosen, 0] * noise

    def crps(self, y: np.ndarray) -> np.ndarray:
        """Return E|Y − y| − E|Y − Y′|/2 of the distribution around the Gaussian mean."""
        mean, variance, weight = (part[0] for part in self._by_precision.moments.components)
        std, distance = np.sqrt(variance), y - mean
        away = distance * (2 * special.ndtr(distance / std) - 1)
        away = away + 2 * std * stats.norm.pdf(distance / std)
        between = np.zeros_like(self.moments.mean)
        for one, share in zip(variance, weight, strict=True):
            between += share * np.sum(weight * np.sqrt(2 / np.pi * (one + variance)), axis=0)
        return np.sum(weight * away, axis=0) - between / 2

    @property
    def _by_precision(self) -> Gaussian:
        """The distribution around N(mean, epistemic variance), as a mixture of Gaussians."""

        def load_components() -> Components:
            moments = self.moments
            of_outputs = (NUM_PRECISIONS,) + (1,) * (moments.mean.ndim - self.freedom.ndim)
            precision, weight = (
                part.reshape(1, *of_outputs, *self.freedom.shape) for part in precisions(self.freedom)
            )
            noise = self._squared_scale(moments.aleatoric_variance) / precision
            mean = np.broadcast_to(moments.mean, noise.shape)
            return Components(mean, noise + moments.epistemic_variance, weight)

        return Gaussian(replace(self.moments, load_components=load_components))

    def _of_draws(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return location, scale and weight of the Student-t of every draw."""
        mean, variance, weight = self.moments.components
        return mean, np.sqrt(self._squared_scale(variance)), weight

    def _squared_scale(self, variance: np.ndarray) -> np.ndarray:
        return variance * (self.freedom - 2) / self.freedom


def precisions(freedom: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values of τ ~ Gamma(ν/2, ν/2) and their weights, ``(values, *shape of ν)`` each."""
    half = freedom / 2
    step = np.minimum(0.6 / np.sqrt(half), 0.4)  # of log τ, whose std is near 1/√(ν/2)
    largest = np.log(special.gammainccinv(half, 1e-15) / half)
    place = np.arange(NUM_PRECISIONS).reshape(-1, *(1,) * freedom.ndim)
    log_precision = largest - step * place
    log_weight = half * (log_precision - np.exp(log_precision))
    return np.exp(log_precision), special.softmax(log_weight, axis=0)
