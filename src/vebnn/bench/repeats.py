"""Predictions of repeated measurements against the scatter of the repeats.

A condition has n repeats with mean ȳ and std s. The model predicts a mean m̂, a noise std σ̂ and an
epistemic std ê.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

from vebnn.bench.forecasts import LEVEL

FEWEST_CONDITIONS = 3  # for a rank correlation


class Predicted(NamedTuple):
    """The prediction of these conditions; ``None`` for what a method does not give."""

    mean: np.ndarray  # m̂
    noise_std: np.ndarray | None  # σ̂
    epistemic_std: np.ndarray | None  # ê


class Repeats(NamedTuple):
    """Conditions that were measured at least twice, one entry each."""

    num_repeats: np.ndarray  # n
    mean: np.ndarray  # ȳ
    scatter: np.ndarray  # s, with n − 1 in the denominator

    @classmethod
    def of(cls, y: np.ndarray, condition: np.ndarray) -> tuple["Repeats", np.ndarray]:
        """Return the repeats, and the first row of each of these conditions."""
        _, first, row, count = np.unique(
            condition, return_index=True, return_inverse=True, return_counts=True
        )
        mean = np.bincount(row, y) / count
        squares = np.bincount(row, (y - mean[row]) ** 2)
        several = count > 1
        scatter = np.sqrt(squares[several] / (count[several] - 1))
        return cls(count[several], mean[several], scatter), first[several]

    def compare(self, predicted: Predicted) -> dict[str, float | None]:
        """Return all three numbers by field; ``None`` where the method does not give what it needs."""
        mean, noise, epistemic = predicted
        return {
            "noise_ratio": None if noise is None else self.noise_ratio(noise),
            "noise_rank": None if noise is None else self.noise_rank(noise),
            "epistemic_coverage": None if epistemic is None else self.mean_coverage(mean, epistemic),
        }

    def noise_ratio(self, noise_std: np.ndarray) -> float:
        """Return the root mean square of σ̂ over that of s; both are weighted by n − 1.

        The weights make the denominator the pooled std, whose square is an unbiased variance.
        """
        weights = self.num_repeats - 1
        mean_squares = (np.average(part**2, weights=weights) for part in (noise_std, self.scatter))
        predicted, observed = mean_squares
        return float(np.sqrt(predicted / observed))

    def noise_rank(self, noise_std: np.ndarray) -> float | None:
        """Return Spearman's correlation of σ̂ and s over conditions; ``None`` for constant σ̂."""
        constant = np.ptp(noise_std) <= 1e-9 * np.max(noise_std)
        if len(self.num_repeats) < FEWEST_CONDITIONS or constant:
            return None
        return float(stats.spearmanr(noise_std, self.scatter).statistic)

    def mean_coverage(self, mean: np.ndarray, epistemic_std: np.ndarray) -> float:
        """Return the share of conditions whose mean ȳ is inside its 95 % interval.

        The true mean is not known: ȳ has a standard error s/√n, and s is from few repeats. The
        interval is m̂ ± t √(ê² + s²/n), with t the quantile of Student's t with the degrees of freedom
        of Welch (1947) and Satterthwaite (1946), ν = (ê² + s²/n)² / ((s²/n)² / (n − 1)). It is exact
        if either part is zero. Where ê is a third of s/√n, a correct ê covers 0.87 with two repeats,
        0.92 with three and 0.94 with four (simulated). Where s/√n is much larger than ê, the share says
        little about ê.
        """
        error = self.scatter**2 / self.num_repeats
        total = epistemic_std**2 + error
        with np.errstate(divide="ignore"):  # equal repeats: a Gaussian interval
            degrees = total**2 * (self.num_repeats - 1) / error**2
        half = stats.t.ppf((1 + LEVEL) / 2, degrees) * np.sqrt(total)
        return float(np.mean(np.abs(self.mean - mean) <= half))
