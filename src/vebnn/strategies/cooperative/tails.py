"""Student-t noise: its degrees of freedom, and the weights of rows in Steps 2 and 3.

Given the precisions τ of all targets, noise is Gaussian again, and both steps are those of Gaussian
noise with every squared residual multiplied by its E[τ] (docs/heavy-tails.md).
"""

from typing import NamedTuple, Self

import numpy as np
from scipy import optimize, special

from vebnn.core.types import ResidualDataset
from vebnn.likelihoods.student import expected_precision

# The variance of the noise is finite above 2; close to it, an estimate means little.
LOWEST_FREEDOM = 2.5
HIGHEST_FREEDOM = 100.0  # hardly differs from a Gaussian
SMALLEST_RATIO = 1e-12  # of squared residuals to each other, so that logarithms are finite


class Tails(NamedTuple):
    """Student-t noise of some rows, in standardised units."""

    freedom: np.ndarray  # (outputs,): ν
    factor: np.ndarray  # (outputs,): the squared scale over that which it was fitted with
    squared_scale: np.ndarray  # like the targets: s²

    @classmethod
    def fit(cls, residuals: ResidualDataset, squared_scale: np.ndarray) -> Self:
        """Find ν and a factor c on the squared scale by maximum likelihood, output by output.

        Σ log t_ν(√r; √(c s²)) with squared residuals r. With residuals averaged over a posterior, it is
        the bound of EM, maximised over the precisions τ.
        """
        total = squared_scale + np.asarray(residuals.offset)
        ratio = np.asarray(residuals.squared, float) / total
        weight = np.asarray(residuals.weight, float)
        outputs = ratio.shape[-1]
        found = [
            _maximum_likelihood(one, counts)
            for one, counts in zip(
                ratio.reshape(-1, outputs).T, weight.reshape(-1, outputs).T, strict=True
            )
        ]
        freedom, factor = np.asarray(found, np.float32).T
        return cls(freedom, factor, squared_scale * factor)

    def of(self, squared_scale: np.ndarray) -> Self:
        """Return the same noise for other rows."""
        return self._replace(squared_scale=squared_scale)

    def weights(self, residuals: ResidualDataset) -> np.ndarray:
        """Return E[τ] of every target."""
        total = self.squared_scale + np.asarray(residuals.offset)
        return np.asarray(expected_precision(np.asarray(residuals.squared), total, self.freedom))

    def weighted(self, residuals: ResidualDataset) -> ResidualDataset:
        """Return residuals of √τ (y − μ), whose variance is s²: Step 2 learns it from them."""
        weight = self.weights(residuals)
        return residuals._replace(squared=weight * residuals.squared, offset=weight * residuals.offset)


def _maximum_likelihood(ratio: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Return ν and c of the largest Σ weight · log t_ν(√ratio; √c)."""
    ratio, weight = ratio[weight > 0], weight[weight > 0]
    if ratio.max() <= 0:
        return HIGHEST_FREEDOM, 1.0
    ratio = np.maximum(ratio, SMALLEST_RATIO * ratio.max())

    def negative(log_freedom: float) -> float:
        freedom = np.exp(log_freedom)
        return -_log_likelihood(ratio, weight, freedom, _best_factor(ratio, weight, freedom))

    ends = np.log([LOWEST_FREEDOM, HIGHEST_FREEDOM])
    inside = optimize.minimize_scalar(negative, bounds=ends, method="bounded").x
    freedom = float(np.exp(min([*ends, inside], key=negative)))
    return freedom, _best_factor(ratio, weight, freedom)


def _best_factor(ratio: np.ndarray, weight: np.ndarray, freedom: float) -> float:
    """Return the c of the largest likelihood, where Σ weight (E[τ] ratio/c − 1), which falls, is 0."""

    def slope(log_factor: float) -> float:
        scaled = ratio / np.exp(log_factor)
        return float(np.sum(weight * (expected_precision(scaled, 1, freedom) * scaled - 1)))

    low, high = np.log([ratio.min(), ratio.max()])
    return float(np.exp(optimize.brentq(slope, low - 1, high + 1)))


def _log_likelihood(ratio: np.ndarray, weight: np.ndarray, freedom: float, factor: float) -> float:
    constant = special.gammaln((freedom + 1) / 2) - special.gammaln(freedom / 2)
    spread = 0.5 * np.log(np.pi * freedom * factor)
    distance = 0.5 * (freedom + 1) * np.log1p(ratio / (freedom * factor))
    return float(np.sum(weight * (constant - spread - distance)))
