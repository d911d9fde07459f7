"""The two parts of the predictive variance, and factors on them."""

from typing import NamedTuple

import numpy as np

from vebnn.metrics.arrays import matched, require_not_negative, require_positive


class Variances(NamedTuple):
    """The two parts of the predictive variance, ``(rows,)`` or ``(rows, ..., outputs)`` each."""

    aleatoric: np.ndarray
    epistemic: np.ndarray

    @classmethod
    def checked(cls, aleatoric_variance: np.ndarray, epistemic_variance: np.ndarray) -> "Variances":
        """Return both parts in double precision; neither may be negative."""
        variances = cls(
            *matched(aleatoric_variance=aleatoric_variance, epistemic_variance=epistemic_variance)
        )
        require_not_negative("aleatoric_variance", variances.aleatoric)
        require_not_negative("epistemic_variance", variances.epistemic)
        return variances

    @property
    def total(self) -> np.ndarray:
        """Their sum, which must be positive."""
        total = self.aleatoric + self.epistemic
        require_positive("total variance", total)
        return total

    def times(self, aleatoric: tuple[float, ...], epistemic: tuple[float, ...]) -> "Variances":
        """Return each part times its factors, which are one number per output."""
        return Variances(
            for_outputs(aleatoric, self.aleatoric) * self.aleatoric,
            for_outputs(epistemic, self.epistemic) * self.epistemic,
        )


def for_outputs(numbers: tuple[float, ...], like: np.ndarray) -> np.ndarray:
    """Return one number per output, to multiply an array ``(rows,)`` or ``(rows, ..., outputs)``."""
    outputs = 1 if like.ndim == 1 else like.shape[-1]
    if outputs != len(numbers):
        raise ValueError(
            f"The calibration was learned for {len(numbers)} outputs. Got {outputs}, in an array of "
            f"shape {like.shape}."
        )
    return np.array(numbers)
