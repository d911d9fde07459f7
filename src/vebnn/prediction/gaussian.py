"""The distribution of a real target: one Gaussian, or one per draw of the network."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special, stats

from vebnn.prediction.along import correlated_noise, gaussian_deviations
from vebnn.prediction.bisection import mixture_quantiles
from vebnn.prediction.law import Kind, Law

if TYPE_CHECKING:
    from vebnn.prediction.prediction import Prediction


@dataclass(frozen=True, eq=False)
class Gaussian(Law):
    """N(mean, total variance), or the mixture of the components (paper, eq. 11)."""

    moments: "Prediction"

    @property
    def draws(self) -> np.ndarray:
        """Mean over the modes of every draw."""
        mean, _, weight = self.moments.components
        return np.sum(weight * mean, axis=1)

    def quantile(self, levels: np.ndarray, kind: Kind) -> np.ndarray:
        """Return quantiles of the Gaussian, or of the mixture by bisection."""
        mean, std = self.moments.mean, self.moments.std
        levels = levels.reshape(levels.shape + (1,) * mean.ndim)
        if kind == "gaussian":
            return mean + std * special.ndtri(levels)
        return self._mixture_quantile(levels)

    def interval(self, level: float, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
        """Return mean ± reach · std if a reach is given, else two quantiles."""
        mean, reach = self.moments.mean, self.moments.interval_reach
        if reach is not None:
            if kind == "mixture":
                raise ValueError(
                    'Conformal intervals are multiples of the total std. Got kind="mixture"; leave it '
                    "out, or take the prediction of predict_distribution(X, calibrated=False)."
                )
            half = reach(level) * self.moments.std
            return mean - half, mean + half
        lower, upper = self.quantile(np.array([(1 - level) / 2, (1 + level) / 2]), kind)
        return lower, upper

    def noise_interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return mean ± reach · aleatoric std."""
        return self._around(level, self.moments.aleatoric_std)

    def mean_interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return mean ± reach · epistemic std."""
        return self._around(level, self.moments.epistemic_std)

    def standardised_error(self, y: np.ndarray) -> np.ndarray:
        """Return (y − mean) / std."""
        return (y - self.moments.mean) / self.moments.std

    def log_prob(self, y: np.ndarray, kind: Kind) -> np.ndarray:
        """Return log-densities."""
        if kind == "gaussian":
            return stats.norm.logpdf(y, self.moments.mean, self.moments.std)
        mean, variance, weight = self.moments.components
        by_component = stats.norm.logpdf(y, mean, np.sqrt(variance))
        return special.logsumexp(by_component, axis=(0, 1), b=weight / len(mean))

    def cdf(self, y: np.ndarray, kind: Kind) -> np.ndarray:
        """Return Φ((y − mean) / std), or its average over components."""
        if kind == "gaussian":
            return special.ndtr((y - self.moments.mean) / self.moments.std)
        mean, variance, weight = self.moments.components
        below = special.ndtr((y - mean) / np.sqrt(variance))
        return np.mean(np.sum(weight * below, axis=1), axis=0)

    def log_mass(self, lower: np.ndarray, upper: np.ndarray, kind: Kind) -> np.ndarray:
        """Return the log-probability of an observation between two values, exact in both tails."""
        if kind == "gaussian":
            return _log_mass(lower, upper, self.moments.mean, self.moments.std)
        mean, variance, weight = self.moments.components
        by_component = _log_mass(lower, upper, mean, np.sqrt(variance))
        return special.logsumexp(by_component, axis=(0, 1), b=weight / len(mean))

    def sample(self, num_samples: int, kind: Kind, rng: np.random.Generator) -> np.ndarray:
        """Draw from the Gaussian, or from a network, a mode and its Gaussian."""
        shape = self.moments.mean.shape
        noise = rng.standard_normal((num_samples, *shape))
        correlation, along = self.moments.noise_correlation, self.moments.noise_autocorrelation
        if along is not None:
            noise = correlated_noise(noise, along)
        elif correlation is not None and kind == "gaussian":
            root = np.linalg.cholesky(self.moments.covariance)
            return self.moments.mean + np.einsum("...ij,s...j->s...i", root, noise)
        if correlation is not None:
            noise = noise @ np.linalg.cholesky(correlation).T
        if kind == "gaussian" and along is not None:
            wide = gaussian_deviations(self.draws, self.moments.epistemic_std, num_samples, rng)
            return self.moments.mean + wide + self.moments.aleatoric_std * noise
        if kind == "gaussian":
            return self.moments.mean + self.moments.std * noise
        mean, variance, weight = np.broadcast_arrays(*self.moments.components)
        chosen = rng.integers(len(mean), size=num_samples)
        # One mode for every target of every sample: where the running sum of weights passes u.
        u = rng.random((num_samples, 1, *shape)) if weight.shape[1] > 1 else 0.0
        mode = np.argmax(np.cumsum(weight[chosen], axis=1) > u, axis=1)[:, None]
        picked = (np.take_along_axis(part[chosen], mode, 1)[:, 0] for part in (mean, variance))
        centre, spread = picked
        return centre + np.sqrt(spread) * noise

    def _around(self, level: float, std: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        half = special.ndtri((1 + level) / 2) * std
        return self.moments.mean - half, self.moments.mean + half

    def _mixture_quantile(self, levels: np.ndarray) -> np.ndarray:
        mean, variance, _ = self.moments.components
        std = np.sqrt(variance)
        return mixture_quantiles(
            levels,
            lambda y: self.cdf(y, "mixture"),
            lambda level: mean + std * special.ndtri(level),
            self.moments.mean.shape,
        )


def _log_mass(lower: np.ndarray, upper: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """Return log(Φ(b) − Φ(a)); an interval above the mean is mirrored, where no digits cancel."""
    a, b = (lower - mean) / std, (upper - mean) / std
    mirrored = a > 0
    a, b = np.where(mirrored, -b, a), np.where(mirrored, -a, b)
    larger = special.log_ndtr(b)
    # At −∞ both logarithms are −∞, and there is no mass between.
    gap = np.subtract(special.log_ndtr(a), larger, out=np.zeros(larger.shape), where=larger > -np.inf)
    with np.errstate(divide="ignore"):
        return larger + np.log(-np.expm1(gap))
