"""Numbers between 0 and 1, such as shares, yields and porosities: y is logit-normal."""

from typing import ClassVar

import numpy as np
from scipy import special

from vebnn.prediction.targets.quadrature import gaussian_moments
from vebnn.prediction.targets.smooth import Smooth


class Fraction(Smooth):
    """z = log(y / (1 − y)). The median of y is 1 / (1 + exp(−m))."""

    name: ClassVar[str] = "fraction"
    support: ClassVar[str] = "numbers between 0 and 1, without both ends"
    way_out: ClassVar[str] = (
        'divide percent by 100, move 0 and 1 inwards by a detection limit, or take "real"'
    )
    floor: float = 0.0

    def allows(self, y: np.ndarray) -> np.ndarray:
        """Return which values are strictly between 0 and 1, or missing."""
        return ~((y <= 0) | (y >= 1))

    def transform(self, y: np.ndarray) -> np.ndarray:
        """Return log(y / (1 − y))."""
        return special.logit(y)

    def inverse(self, z: np.ndarray) -> np.ndarray:
        """Return 1 / (1 + exp(−z))."""
        return special.expit(z)

    def log_slope(self, y: np.ndarray) -> np.ndarray:
        """Return −log(y (1 − y))."""
        return -np.log(y) - np.log1p(-y)

    def conditional(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return both by quadrature; there is no closed form."""
        return gaussian_moments(special.expit, mean, np.sqrt(variance))
