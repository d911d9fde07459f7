"""Factors on the parts of the variance: one for both, or one for each."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from vebnn.calibration.rows import Variances, error_scores, for_outputs, parts_of, rank_of
from vebnn.core.arguments import require_number
from vebnn.metrics.arrays import by_output

# A factor by likelihood stays within these multiples of the best common one.
_FURTHEST = 1e3
# An interval made to end at an observation must not lose it by rounding.
_HAIR = 1e-9


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
        scores = error_scores(y, mean, aleatoric_variance, epistemic_variance)
        reach = np.sort(scores, axis=0)[rank_of(level, len(scores)) - 1]
        _require_residuals(reach)
        factors = (reach / special.ndtri((1 + level) / 2)) ** 2 * (1 + _HAIR)
        return cls(tuple(factors.tolist()), level)

    def apply(self, aleatoric_variance: np.ndarray, epistemic_variance: np.ndarray) -> Variances:
        """Return both parts times c, so that each keeps its share of the total."""
        parts = parts_of(aleatoric_variance, epistemic_variance)
        factors = for_outputs(self.factors, parts.aleatoric)
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
        scores = error_scores(y, mean, aleatoric_variance, epistemic_variance)
        _require_residuals(scores.max(axis=0))
        # In multiples of the total variance, where all numbers are of order one.
        share = np.asarray(aleatoric_variance, float) / np.add(aleatoric_variance, epistemic_variance)
        columns = zip(scores.T**2, by_output(share).T, strict=True)
        aleatoric, epistemic = zip(*(_most_likely(*column) for column in columns), strict=True)
        return cls(aleatoric, epistemic)

    def apply(self, aleatoric_variance: np.ndarray, epistemic_variance: np.ndarray) -> Variances:
        """Return each part times its factor."""
        parts = parts_of(aleatoric_variance, epistemic_variance)
        return Variances(
            for_outputs(self.aleatoric, parts.aleatoric) * parts.aleatoric,
            for_outputs(self.epistemic, parts.epistemic) * parts.epistemic,
        )


def _require_residuals(largest: np.ndarray) -> None:
    if not largest.all():
        raise ValueError(
            "The `y` must differ from the `mean`, or there is no error to calibrate on. Got some that "
            "equal it; pass rows that were not used for training."
        )


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
