"""Any real number."""

from typing import ClassVar

import numpy as np

from vebnn.prediction.targets.smooth import Smooth
from vebnn.prediction.targets.target import Moments


class Real(Smooth):
    """z = y."""

    name: ClassVar[str] = "real"
    support: ClassVar[str] = "numbers"
    way_out: ClassVar[str] = "leave out rows with other values"

    def allows(self, y: np.ndarray) -> np.ndarray:
        """Return True everywhere."""
        return np.ones(y.shape, bool)

    def transform(self, y: np.ndarray) -> np.ndarray:
        """Return y."""
        return y

    def inverse(self, z: np.ndarray) -> np.ndarray:
        """Return z."""
        return z

    def log_slope(self, y: np.ndarray) -> np.ndarray:
        """Return 0."""
        return np.zeros_like(y)

    def conditional(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return both as they are."""
        return mean, variance

    def moments(self, mean: np.ndarray, aleatoric: np.ndarray, epistemic: np.ndarray) -> Moments:
        """Return all three as they are."""
        return Moments(mean, aleatoric, epistemic)
