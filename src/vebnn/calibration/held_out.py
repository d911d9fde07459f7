"""Held-out rows: their errors in multiples of the predicted std, output by output."""

from abc import ABC, abstractmethod
from typing import NamedTuple, Self

import numpy as np

from vebnn.calibration.variances import Variances
from vebnn.metrics.arrays import by_output, matched


class HeldOut(NamedTuple):
    """Errors of raw predictions on rows that were not used in training."""

    scores: np.ndarray  # (entries, outputs): |y − mean| / std
    aleatoric_share: np.ndarray  # (entries, outputs): of the total variance
    num_rows: int  # a sequence is one row


class Learned(ABC):
    """Numbers learned from held-out rows."""

    @classmethod
    def learn(
        cls,
        y: np.ndarray,
        mean: np.ndarray,
        aleatoric_variance: np.ndarray,
        epistemic_variance: np.ndarray,
        level: float | None = None,
    ) -> Self:
        """Learn from held-out rows.

        Args:
          y: observations, ``(rows,)`` or ``(rows, ..., outputs)``.
          mean: raw predictions of the same shape, as are both variances.
          aleatoric_variance: not negative.
          epistemic_variance: not negative; the sum of both must be positive.
          level: of the intervals, 0.95 by default; only where those of one level are calibrated.

        Raises:
          ValueError: if arrays do not fit, or there are no errors to learn from.
        """
        variances = Variances.checked(aleatoric_variance, epistemic_variance)
        y, mean, _ = matched(y=y, mean=mean, aleatoric_variance=variances.aleatoric)
        scores = np.abs(y - mean) / np.sqrt(variances.total)
        if not np.isfinite(scores).all():
            raise ValueError(
                "The `y`, the `mean` and the variances must be finite. Got an infinite number."
            )
        share = variances.aleatoric / variances.total
        rows = HeldOut(by_output(scores), by_output(share), len(y))
        return cls._learn(rows) if level is None else cls._learn(rows, level)

    @classmethod
    @abstractmethod
    def _learn(cls, rows: HeldOut, level: float = 0.95) -> Self:
        """Learn from the errors; a subclass without levels takes none."""


def rank_of(level: float, size: int) -> int:
    """Return ⌈level · size⌉ without rounding errors: the smallest k with k/size ≥ level."""
    return int(np.searchsorted(np.arange(size + 1) / size, level))
