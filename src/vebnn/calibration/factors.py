"""Factors on the predictive variance: one on the total, or one on each part."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from vebnn.calibration.held_out import HeldOut, Learned, rank_of
from vebnn.calibration.variances import Variances
from vebnn.core.arguments import require_number

# Bounds of a factor by likelihood, as multiples of the best common factor.
_LARGEST_MULTIPLE = 1e3
# An interval that ends at an observation must not lose it by rounding.
_MARGIN = 1e-9


@dataclass(frozen=True)
class CommonFactor(Learned):
    """One factor c > 0 on the total variance that makes held-out coverage right at one level.

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
    def _learn(cls, rows: HeldOut, level: float = 0.95) -> "CommonFactor":
        require_number("level", level, 0, 1)
        reach = np.sort(rows.scores, axis=0)[rank_of(level, len(rows.scores)) - 1]
        _require_residuals(reach)
        factors = (reach / special.ndtri((1 + level) / 2)) ** 2 * (1 + _MARGIN)
        return cls(tuple(factors.tolist()), level)

    def apply(self, aleatoric_variance: np.ndarray, epistemic_variance: np.ndarray) -> Variances:
        """Return both parts times c, so that each keeps its share of the total."""
        raw = Variances.checked(aleatoric_variance, epistemic_variance)
        return raw.times(self.factors, self.factors)


@dataclass(frozen=True)
class SeparateFactors(Learned):
    """One factor on the aleatoric and one on the epistemic variance, by maximum likelihood.

    They minimise the mean of −log N(y | mean, a · aleatoric + e · epistemic) over held-out rows. A part
    that is zero everywhere has the factor 1. If the rows determine only a common factor, both are that.

    Args:
      aleatoric: a for each output.
      epistemic: e for each output.
    """

    aleatoric: tuple[float, ...]
    epistemic: tuple[float, ...]

    @classmethod
    def _learn(cls, rows: HeldOut) -> "SeparateFactors":  # type: ignore[override]
        _require_residuals(rows.scores.max(axis=0))
        columns = zip(rows.scores.T**2, rows.aleatoric_share.T, strict=True)
        return cls(*zip(*(_most_likely(*column) for column in columns), strict=True))

    def apply(self, aleatoric_variance: np.ndarray, epistemic_variance: np.ndarray) -> Variances:
        """Return each part times its factor."""
        raw = Variances.checked(aleatoric_variance, epistemic_variance)
        return raw.times(self.aleatoric, self.epistemic)


def _require_residuals(largest: np.ndarray) -> None:
    if not largest.all():
        raise ValueError(
            "The `y` must differ from the `mean`, or there is no error to calibrate on. Got some that "
            "equal it; pass rows that were not used for training."
        )


def _most_likely(square: np.ndarray, share: np.ndarray) -> tuple[float, float]:
    """Return the factors a, e with the largest likelihood for one output.

    ``square`` is (y − mean)² and ``share`` the aleatoric variance, both over the total variance.
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

    center, furthest = math.log(common), math.log(_LARGEST_MULTIPLE)
    bounds = [(center - furthest, center + furthest)] * 2
    # The likelihood may have a second mode, where one part is nearly zero.
    starts = center + furthest / 3 * np.array([[0, 0], [0, -1], [-1, 0]])
    best, *others = (
        optimize.minimize(negative_log_likelihood, start, jac=True, bounds=bounds, method="L-BFGS-B")
        for start in starts
    )
    for other in others:
        # If the rows determine only a common factor, all starts tie, and the first one is it.
        if other.fun < best.fun - 1e-6:
            best = other
    aleatoric, epistemic = np.exp(best.x).tolist()
    return aleatoric, epistemic
