"""Targets with a density: z is a smooth function of y."""

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from vebnn.prediction.law import Kind
from vebnn.prediction.targets.target import Target

if TYPE_CHECKING:
    from vebnn.prediction.prediction import Prediction


class Smooth(Target):
    """Abstract: a target whose density is that of z times the slope of the transformation."""

    @abstractmethod
    def log_slope(self, y: np.ndarray) -> np.ndarray:
        """Return log dz/dy."""

    def transformed_std(self, y: np.ndarray, std: np.ndarray) -> np.ndarray:
        """Return std · dz/dy."""
        return std * np.exp(self.log_slope(y))

    def log_prob(self, y: np.ndarray, law: "Prediction", kind: Kind) -> np.ndarray:
        """Return log p(z) + log dz/dy; that of impossible values is −∞."""
        possible = self.allows(y)
        inside = np.where(possible, y, np.nan)
        density = law.log_prob(self.transform(inside), kind) + self.log_slope(inside)
        return np.where(possible, density, -np.inf)

    def cdf(self, y: np.ndarray, law: "Prediction", kind: Kind) -> np.ndarray:
        """Return the probability of values up to z; it is 0 or 1 beyond the possible values."""
        possible = self.allows(y)
        inside = np.where(possible, y, np.nan)
        return np.where(possible, law.cdf(self.transform(inside), kind), y > self.floor)
