"""Targets that were transformed by a function of the user's own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vebnn.prediction.targets.quadrature import gaussian_moments
from vebnn.prediction.targets.smooth import Smooth

Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Increasing(Smooth):
    """z is any increasing, smooth function of y; moments are computed by quadrature.

    Args:
      forward: y to z; not finite where y is impossible.
      backward: z to y.
      step: in z, for the slope by central differences.
      floor: a value of y; impossible values below it are too small, others too large.
    """

    name: ClassVar[str] = "function"
    support: ClassVar[str] = "values that the function takes"
    way_out: ClassVar[str] = "leave out rows with other values"

    forward: Function
    backward: Function
    step: float
    floor: float

    def allows(self, y: np.ndarray) -> np.ndarray:
        """Return where the function is finite, or y missing."""
        return np.isnan(y) | np.isfinite(self.transform(y))

    def transform(self, y: np.ndarray) -> np.ndarray:
        """Return z."""
        return self.forward(y)

    def inverse(self, z: np.ndarray) -> np.ndarray:
        """Return y."""
        return self.backward(z)

    def log_slope(self, y: np.ndarray) -> np.ndarray:
        """Return −log dy/dz, by central differences."""
        z = self.transform(y)
        rise = self.inverse(z + self.step) - self.inverse(z - self.step)
        with np.errstate(divide="ignore"):
            return np.log(2 * self.step) - np.log(rise)

    def conditional(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return both by quadrature."""
        return gaussian_moments(self.inverse, mean, np.sqrt(variance))
