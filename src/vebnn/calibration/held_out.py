"""Held-out rows: their errors in multiples of the predicted std, output by output."""

from abc import ABC, abstractmethod
from typing import NamedTuple, Self

import numpy as np

from vebnn.metrics.arrays import by_output, matched, require_not_negative, require_positive


class Variances(NamedTuple):
    """The two parts of the predictive variance."""

    aleatoric: np.ndarray
    epistemic: np.ndarray


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
        **options: float,
    ) -> Self:
        """Learn from held-out rows.

        Args:
          y: observations, ``(rows,)`` or ``(rows, ..., outputs)``.
          mean: raw predictions of the same shape, as are both variances.
          aleatoric_variance: not negative.
          epistemic_variance: not negative; the sum of both must be positive.
          **options: ``level``, 0.95 by default, if the intervals of one level are calibrated.

        Raises:
          ValueError: if arrays do not fit, or there are no errors to learn from.
        """
        y, mean, *parts = matched(
            y=y,
            mean=mean,
            aleatoric_variance=aleatoric_variance,
            epistemic_variance=epistemic_variance,
        )
        variances = checked_variances(*parts)
        scores = np.abs(y - mean) / total_std(variances)
        if not np.isfinite(scores).all():
            raise ValueError(
                "The `y`, the `mean` and the variances must be finite. Got an infinite number."
            )
        share = variances.aleatoric / (variances.aleatoric + variances.epistemic)
        return cls._learn(HeldOut(by_output(scores), by_output(share), len(y)), **options)

    @classmethod
    @abstractmethod
    def _learn(cls, rows: HeldOut) -> Self:
        """Learn from the errors; a subclass may take options."""


def checked_variances(aleatoric: np.ndarray, epistemic: np.ndarray) -> Variances:
    """Return both parts in double precision; neither may be negative."""
    parts = {"aleatoric_variance": aleatoric, "epistemic_variance": epistemic}
    variances = Variances(*matched(**parts))
    for name, variance in zip(parts, variances, strict=True):
        require_not_negative(name, variance)
    return variances


def total_std(variances: Variances) -> np.ndarray:
    """Return the root of the total variance, which must be positive."""
    total = variances.aleatoric + variances.epistemic
    require_positive("total variance", total)
    return np.sqrt(total)


def rank_of(level: float, size: int) -> int:
    """Return ⌈level · size⌉ without rounding errors: the smallest k with k/size ≥ level."""
    return int(np.searchsorted(np.arange(size + 1) / size, level))


def for_outputs(numbers: tuple[float, ...], like: np.ndarray) -> np.ndarray:
    """Return one number per output, to multiply an array ``(rows,)`` or ``(rows, ..., outputs)``."""
    outputs = 1 if like.ndim == 1 else like.shape[-1]
    if outputs != len(numbers):
        raise ValueError(
            f"The calibration was learned for {len(numbers)} outputs. Got {outputs}, in an array of "
            f"shape {like.shape}."
        )
    return np.array(numbers)
