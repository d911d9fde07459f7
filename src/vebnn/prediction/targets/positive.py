"""Positive numbers, such as prices, times and concentrations: y is log-normal."""

from typing import ClassVar

import numpy as np

from vebnn.prediction.targets.smooth import Smooth
from vebnn.prediction.targets.target import Moments


class Positive(Smooth):
    """z = log y. The median of y is exp(m)."""

    name: ClassVar[str] = "positive"
    support: ClassVar[str] = "numbers above 0"
    way_out: ClassVar[str] = (
        'take the kind "count" for whole numbers, replace 0 by a detection limit, or take "real"'
    )
    floor: float = 0.0

    def allows(self, y: np.ndarray) -> np.ndarray:
        """Return which values are above 0, or missing."""
        return ~(y <= 0)

    def transform(self, y: np.ndarray) -> np.ndarray:
        """Return log y."""
        return np.log(y)

    def inverse(self, z: np.ndarray) -> np.ndarray:
        """Return exp(z)."""
        with np.errstate(over="ignore"):
            return np.exp(z)

    def log_slope(self, y: np.ndarray) -> np.ndarray:
        """Return −log y."""
        return -np.log(y)

    def conditional(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return exp(μ + a/2), and its square times (exp(a) − 1)."""
        with np.errstate(over="ignore"):
            centre = np.exp(mean + variance / 2)
            return centre, centre**2 * np.expm1(variance)

    def moments(self, mean: np.ndarray, aleatoric: np.ndarray, epistemic: np.ndarray) -> Moments:
        """Return the moments in closed form.

        With M = exp(m + (a + e)/2), averages of E(y | μ) = exp(μ + a/2) and
        Var(y | μ) = exp(2μ + a)(exp(a) − 1) over μ ~ N(m, e) are

            mean = M,  aleatoric = M² exp(e)(exp(a) − 1),  epistemic = M² (exp(e) − 1),

        and their sum is M² (exp(a + e) − 1), the variance of the log-normal with a + e.
        """
        with np.errstate(over="ignore"):
            centre = np.exp(mean + (aleatoric + epistemic) / 2)
            noise = centre**2 * np.exp(epistemic) * np.expm1(aleatoric)
            return Moments(centre, noise, centre**2 * np.expm1(epistemic))
