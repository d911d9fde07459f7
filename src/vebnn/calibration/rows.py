"""What held-out rows say: their errors in multiples of the std, output by output."""

from typing import NamedTuple

import numpy as np

from vebnn.metrics.arrays import by_output, matched, require_not_negative, require_positive


class Variances(NamedTuple):
    """The two parts of the predictive variance."""

    aleatoric: np.ndarray
    epistemic: np.ndarray


def rank_of(level: float, size: int) -> int:
    """Return the smallest k with k/size ≥ level; ⌈level · size⌉, but 0.55 · 100 is a hair above 55."""
    return int(np.searchsorted(np.arange(size + 1) / size, level))


def error_scores(
    y: np.ndarray, mean: np.ndarray, aleatoric_variance: np.ndarray, epistemic_variance: np.ndarray
) -> np.ndarray:
    """Return |y − mean| / std as ``(entries, outputs)``."""
    y, mean, aleatoric, epistemic = matched(
        y=y,
        mean=mean,
        aleatoric_variance=aleatoric_variance,
        epistemic_variance=epistemic_variance,
    )
    scores = np.abs(y - mean) / total_std(parts_of(aleatoric, epistemic))
    if not np.isfinite(scores).all():
        raise ValueError(
            "The `y`, the `mean` and the variances must be finite. Got an infinite number."
        )
    return by_output(scores)


def parts_of(aleatoric_variance: np.ndarray, epistemic_variance: np.ndarray) -> Variances:
    """Return both parts in double precision; none may be negative."""
    parts = Variances(
        *matched(aleatoric_variance=aleatoric_variance, epistemic_variance=epistemic_variance)
    )
    require_not_negative("aleatoric_variance", parts.aleatoric)
    require_not_negative("epistemic_variance", parts.epistemic)
    return parts


def total_std(parts: Variances) -> np.ndarray:
    """Return the root of their sum, which must be positive."""
    total = parts.aleatoric + parts.epistemic
    require_positive("total variance", total)
    return np.sqrt(total)


def for_outputs(numbers: tuple[float, ...], like: np.ndarray) -> np.ndarray:
    """Return the numbers ready to multiply an array by, whose last axis are outputs."""
    outputs = 1 if like.ndim == 1 else like.shape[-1]
    if outputs != len(numbers):
        raise ValueError(
            f"The calibration was learned for {len(numbers)} outputs. Got {outputs}, in an array of "
            f"shape {like.shape}."
        )
    return np.array(numbers)
