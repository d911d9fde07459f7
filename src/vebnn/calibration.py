"""Recalibration: what held-out rows say of the error bars.

Three ways, each learned from observations and predictions of rows that nobody trained on. Arrays are
``(rows,)`` or ``(rows, ..., outputs)``, in any units, and every output has its own numbers. What is
learned are plain numbers, so that a model file can hold them.

- :class:`CommonFactor` scales the total variance until intervals of one level hold what they promise.
- :class:`SeparateFactors` scales noise and ignorance each for itself, by maximum likelihood.
- :class:`ConformalIntervals` trusts no distribution, and guarantees the coverage of its intervals.
"""

import math
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import optimize, special

from vebnn.arguments import require_number
from vebnn.metrics.arrays import by_output, matched, require_not_negative, require_positive

# A factor by likelihood stays within these multiples of the best common one.
_FURTHEST = 1e3
# An interval made to end at an observation must not lose it by rounding.
_HAIR = 1e-9


class Variances(NamedTuple):
    """The two parts of the predictive variance."""

    aleatoric: np.ndarray
    epistemic: np.ndarray


@dataclass(frozen=True)
class CommonFactor:
    """One factor c > 0 on the total variance, so that held-out coverage is right at one level.

    The paper's "Uncertainty calibration": c is the smallest factor for which the share of held-out
    targets in mean ± Φ⁻¹((1 + level)/2) · √c · std is at least ``level``. That share changes only at an
    observation, so c follows from one order statistic of \\|y − mean\\| / std.

    Args:
      factors: c for each output.
      level: where the coverage is right.
    """

    factors: tuple[float, ...]
    level: float

    @classmethod
    def learn(
        cls,
        y: np.ndarray,
        mean: np.ndarray,
        aleatoric_variance: np.ndarray,
        epistemic_variance: np.ndarray,
        level: float = 0.95,
    ) -> "CommonFactor":
        """Learn from held-out rows.

        Raises:
          ValueError: if arrays do not fit, or so many observations equal their mean that no factor is
            too small.
        """
        require_number("level", level, 0, 1)
        scores = _scores(y, mean, aleatoric_variance, epistemic_variance)
        reach = np.sort(scores, axis=0)[_rank(level, len(scores)) - 1]
        _require_residuals(reach)
        factors = (reach / special.ndtri((1 + level) / 2)) ** 2 * (1 + _HAIR)
        return cls(tuple(factors.tolist()), level)

    def apply(self, aleatoric_variance: np.ndarray, epistemic_variance: np.ndarray) -> Variances:
        """Return both parts times c, so that each keeps its share of the total."""
        parts = _parts(aleatoric_variance, epistemic_variance)
        factors = _for_outputs(self.factors, parts.aleatoric)
        return Variances(factors * parts.aleatoric, factors * parts.epistemic)


@dataclass(frozen=True)
class SeparateFactors:
    """A factor on the noise and another one on the ignorance, by maximum likelihood.

    They minimise the mean of −log N(y | mean, a · aleatoric + e · epistemic) over held-out rows. What
    the rows cannot tell is left alone: with no epistemic (or no aleatoric) variance anywhere, its
    factor is 1; where only a common factor can be told, both are that.

    Args:
      aleatoric: a for each output.
      epistemic: e for each output.
    """

    aleatoric: tuple[float, ...]
    epistemic: tuple[float, ...]

    @classmethod
    def learn(
        cls,
        y: np.ndarray,
        mean: np.ndarray,
        aleatoric_variance: np.ndarray,
        epistemic_variance: np.ndarray,
    ) -> "SeparateFactors":
        """Learn from held-out rows.

        Raises:
          ValueError: if arrays do not fit, or all observations of an output equal their mean.
        """
        scores = _scores(y, mean, aleatoric_variance, epistemic_variance)
        _require_residuals(scores.max(axis=0))
        # In multiples of the total variance, where all numbers are of order one.
        share = np.asarray(aleatoric_variance, float) / np.add(aleatoric_variance, epistemic_variance)
        columns = zip(scores.T**2, by_output(share).T, strict=True)
        aleatoric, epistemic = zip(*(_most_likely(*column) for column in columns), strict=True)
        return cls(aleatoric, epistemic)

    def apply(self, aleatoric_variance: np.ndarray, epistemic_variance: np.ndarray) -> Variances:
        """Return each part times its factor."""
        parts = _parts(aleatoric_variance, epistemic_variance)
        return Variances(
            _for_outputs(self.aleatoric, parts.aleatoric) * parts.aleatoric,
            _for_outputs(self.epistemic, parts.epistemic) * parts.epistemic,
        )


@dataclass(frozen=True)
class ConformalIntervals:
    """Intervals mean ± q · std that hold at least ``level`` of new targets, of whatever distribution.

    Split conformal prediction (Papadopoulos et al. 2002; Lei et al. 2018, secs. 2.2 and 5.2) with the
    score \\|y − mean\\| / std: q is the ⌈(n + 1) · level⌉-th smallest score of n held-out rows. If
    those and a new row are exchangeable, P(new target inside) ≥ level, averaged over draws of both.

    The steps of a sequence are not exchangeable with each other, but whole sequences are. With T steps
    in a row, q is the ⌈(n + 1) · T · level⌉-th smallest of all n · T scores, which makes the expected
    share of a new sequence's steps inside at least ``level`` (conformal risk control, Angelopoulos et
    al. 2024, Theorem 1).

    Args:
      multipliers: q for each output, or None for an infinite interval.
      level: what is guaranteed.
    """

    multipliers: tuple[float | None, ...]
    level: float

    @classmethod
    def learn(
        cls,
        y: np.ndarray,
        mean: np.ndarray,
        aleatoric_variance: np.ndarray,
        epistemic_variance: np.ndarray,
        level: float = 0.95,
    ) -> "ConformalIntervals":
        """Learn from held-out rows; warns if they are too few for anything but infinite intervals.

        Raises:
          ValueError: if arrays do not fit.
        """
        require_number("level", level, 0, 1)
        scores = _scores(y, mean, aleatoric_variance, epistemic_variance)
        num_rows, num_outputs = len(y), scores.shape[1]
        rank = _rank(level, len(scores) // num_rows * (num_rows + 1))
        if rank > len(scores):
            needed = math.ceil(round(level / (1 - level), 9))
            warnings.warn(
                f"Conformal intervals of level {level:g} need at least {needed} held-out rows. Got "
                f"{num_rows}, so the intervals are infinite; hold out more rows or lower the level.",
                stacklevel=2,
            )
            return cls((None,) * num_outputs, level)
        return cls(tuple(np.sort(scores, axis=0)[rank - 1].tolist()), level)

    def interval(
        self, mean: np.ndarray, aleatoric_variance: np.ndarray, epistemic_variance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper ends for new rows."""
        mean, aleatoric, epistemic = matched(
            mean=mean, aleatoric_variance=aleatoric_variance, epistemic_variance=epistemic_variance
        )
        reach = tuple(math.inf if one is None else one for one in self.multipliers)
        half = _for_outputs(reach, mean) * _total_std(_parts(aleatoric, epistemic))
        return mean - half, mean + half


def _rank(level: float, size: int) -> int:
    """Return the smallest k with k/size ≥ level; ⌈level · size⌉, but 0.55 · 100 is a hair above 55."""
    return int(np.searchsorted(np.arange(size + 1) / size, level))


def _scores(
    y: np.ndarray, mean: np.ndarray, aleatoric_variance: np.ndarray, epistemic_variance: np.ndarray
) -> np.ndarray:
    """Return |y − mean| / std as ``(entries, outputs)``."""
    y, mean, aleatoric, epistemic = matched(
        y=y,
        mean=mean,
        aleatoric_variance=aleatoric_variance,
        epistemic_variance=epistemic_variance,
    )
    scores = np.abs(y - mean) / _total_std(_parts(aleatoric, epistemic))
    if not np.isfinite(scores).all():
        raise ValueError(
            "The `y`, the `mean` and the variances must be finite. Got an infinite number."
        )
    return by_output(scores)


def _parts(aleatoric_variance: np.ndarray, epistemic_variance: np.ndarray) -> Variances:
    parts = Variances(
        *matched(aleatoric_variance=aleatoric_variance, epistemic_variance=epistemic_variance)
    )
    require_not_negative("aleatoric_variance", parts.aleatoric)
    require_not_negative("epistemic_variance", parts.epistemic)
    return parts


def _total_std(parts: Variances) -> np.ndarray:
    total = parts.aleatoric + parts.epistemic
    require_positive("total variance", total)
    return np.sqrt(total)


def _require_residuals(largest: np.ndarray) -> None:
    if not largest.all():
        raise ValueError(
            "The `y` must differ from the `mean`, or there is no error to calibrate on. Got some that "
            "equal it; pass rows that were not used for training."
        )


def _for_outputs(numbers: tuple[float, ...], like: np.ndarray) -> np.ndarray:
    """Return the numbers ready to multiply an array by, whose last axis are outputs."""
    outputs = 1 if like.ndim == 1 else like.shape[-1]
    if outputs != len(numbers):
        raise ValueError(
            f"The calibration was learned for {len(numbers)} outputs. Got {outputs}, in an array of "
            f"shape {like.shape}."
        )
    return np.array(numbers)


def _most_likely(square: np.ndarray, share: np.ndarray) -> tuple[float, float]:
    """Return the factors a, e with the largest likelihood of one output.

    Args:
      square: (y − mean)² in multiples of the total variance.
      share: aleatoric part of the total variance, between 0 and 1.
    """
    common = float(square.mean())  # the most likely common factor, in closed form
    if (share == 1).all():
        return common, 1.0
    if (share == 0).all():
        return 1.0, common
    parts = np.stack([share, 1 - share])

    def negative_log_likelihood(log_factors: np.ndarray) -> tuple[float, np.ndarray]:
        by_part = np.exp(log_factors)[:, None] * parts
        variance = by_part.sum(axis=0)
        slope = (1 - square / variance) / variance
        return np.mean(np.log(variance) + square / variance) / 2, np.mean(slope * by_part, axis=1) / 2

    center, furthest = math.log(common), math.log(_FURTHEST)
    bounds = [(center - furthest, center + furthest)] * 2
    # The likelihood may have a second peak where one part does all the work.
    starts = center + furthest / 3 * np.array([[0, 0], [0, -1], [-1, 0]])
    found = [
        optimize.minimize(negative_log_likelihood, start, jac=True, bounds=bounds, method="L-BFGS-B")
        for start in starts
    ]
    best = found[0]
    for other in found[1:]:
        # Where only a common factor can be told, all starts are as good, and the first one is it.
        if other.fun < best.fun - 1e-6:
            best = other
    aleatoric, epistemic = np.exp(best.x).tolist()
    return aleatoric, epistemic
