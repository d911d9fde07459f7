"""Units: original → standardised once on the way in, and back once on the way out.

Also what a user may say of rows: how much they count, and how well they were measured.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array


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


def row_weight(sample_weight: Any, num_rows: int) -> np.ndarray:
    """Return how often each row counts; once unless told otherwise."""
    if sample_weight is None:
        return np.ones(num_rows)
    weight = check_array(sample_weight, ensure_2d=False, dtype=float, input_name="sample_weight")
    if weight.shape != (num_rows,):
        raise ValueError(f"The shape of `sample_weight` must be ({num_rows},). Got {weight.shape}.")
    if weight.min() < 0 or weight.sum() == 0:
        raise ValueError("The `sample_weight` must be non-negative, and not all zero.")
    return weight


def known_std(y_std: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return measurement errors in the user's units, one for every entry of the targets."""
    known = check_array(y_std, ensure_2d=False, allow_nd=True, dtype=float, input_name="y_std")
    fits = known.shape in (shape, shape[:1]) or (shape[-1] == 1 and known.shape == shape[:-1])
    if not fits or known.min() < 0:
        raise ValueError(
            f"The `y_std` must hold one non-negative standard deviation for each of the {shape[0]} "
            f"rows, or for each entry of y. Got shape {known.shape}, smallest {known.min():g}."
        )
    return np.broadcast_to(known.reshape(known.shape + (1,) * (len(shape) - known.ndim)), shape)
