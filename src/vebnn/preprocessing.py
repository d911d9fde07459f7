"""Units: original → standardised once on the way in, and back once on the way out."""

from typing import NamedTuple

import numpy as np


class Standardiser(NamedTuple):
    """Shift and scale per feature (last axis), learned from the training rows alone."""

    centre: np.ndarray
    scale: np.ndarray

    @classmethod
    def learn(cls, values: np.ndarray, weight: np.ndarray | None = None) -> "Standardiser":
        """Learn mean and standard deviation over all axes but the last; a constant keeps scale 1.

        Args:
          values: ``(rows, ..., features)``.
          weight: ``(rows,)``; rows of weight zero count nowhere.
        """
        axes = tuple(range(values.ndim - 1))
        by_row = np.ones(len(values)) if weight is None else weight
        weight = by_row.reshape(-1, *(1,) * (values.ndim - 1)) * np.ones_like(values)
        total = weight.sum(axes)
        centre = (weight * values).sum(axes) / total
        spread = np.sqrt((weight * (values - centre) ** 2).sum(axes) / total)
        # A spread at the level of rounding errors is no information.
        constant = spread <= 10 * np.finfo(float).eps * np.abs(centre)
        return cls(centre, np.where(constant, 1.0, spread))

    def standardise(self, values: np.ndarray) -> np.ndarray:
        """Original units → standardised units."""
        return (values - self.centre) / self.scale

    def restore(self, values: np.ndarray) -> np.ndarray:
        """Standardised units → original units."""
        return values * self.scale + self.centre
