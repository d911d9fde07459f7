"""Whole numbers 0, 1, 2, …, such as visits, defects and cells: y is a rounded square."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy import special, stats

from vebnn.prediction.law import Kind
from vebnn.prediction.targets.target import Target

if TYPE_CHECKING:
    from vebnn.prediction.prediction import Prediction

_SHIFT = 3 / 8  # Anscombe (1948): the variance of √(y + 3/8) is nearly 1/4 for every Poisson mean
_SUMMED = 40  # probabilities that are summed one by one; above, their sum is an integral


class Count(Target):
    """z = √(y + 3/8), and y is k where z lies between √(k − 1/8) and √(k + 7/8).

    These edges are those of k ± 1/2. All z below √(7/8), also negative ones, are y = 0. The
    probability of k is that of z between its edges, so they sum to one.
    """

    name: ClassVar[str] = "count"
    support: ClassVar[str] = "whole numbers, 0 or more"
    way_out: ClassVar[str] = 'take the kind "positive" for other positive numbers, or take "real"'
    floor: float = 0.0

    def allows(self, y: np.ndarray) -> np.ndarray:
        """Return which values are 0, 1, 2, … or missing."""
        return np.isnan(y) | ((y >= 0) & (y == np.round(y)))

    def transform(self, y: np.ndarray) -> np.ndarray:
        """Return √(y + 3/8)."""
        return np.sqrt(y + _SHIFT)

    def inverse(self, z: np.ndarray) -> np.ndarray:
        """Return the smallest whole number whose upper edge is not below z."""
        return np.maximum(np.ceil(np.maximum(z, 0) ** 2 - (_SHIFT + 0.5)), 0)

    def transformed_std(self, y: np.ndarray, std: np.ndarray) -> np.ndarray:
        """Refuse: a count has no measurement error."""
        raise ValueError(
            'The `y_std` is for measured numbers, and a target of the kind "count" is counted. Leave '
            'out `y_std`, or take the kind "positive" or "real".'
        )

    def log_prob(self, y: np.ndarray, law: "Prediction", kind: Kind) -> np.ndarray:
        """Return the log-probability of k; that of impossible values is −∞."""
        from vebnn.prediction.gaussian import Gaussian

        possible = self.allows(y)
        k = np.where(possible, y, 0)
        mass = Gaussian(law).log_mass(_lower_edge(k), _upper_edge(k), kind)
        return np.where(possible, mass, -np.inf)

    def cdf(self, y: np.ndarray, law: "Prediction", kind: Kind) -> np.ndarray:
        """Return the probability of z below the upper edge of ⌊y⌋."""
        k = np.floor(y)
        return np.where(k < 0, 0, law.cdf(_upper_edge(np.maximum(k, 0)), kind))

    def conditional(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return both moments from the tail probabilities S(k) = P(y ≥ k).

            E y = Σ S(k),  E y² = Σ (2k − 1) S(k),  k = 1, 2, …

        The first K terms are summed. The rest is their integral from K + 1/2 plus 1/24 of the slope
        there (midpoint rule with its first correction). In w = √(k − 1/8), the integrals are truncated
        moments of the Gaussian.
        """
        mean, std = np.broadcast_arrays(mean, np.sqrt(variance))
        first, second = np.zeros_like(mean), np.zeros_like(mean)
        for k in range(1, _SUMMED + 1):
            tail = special.ndtr((mean - np.sqrt(k - 0.5 + _SHIFT)) / std)
            first, second = first + tail, second + (2 * k - 1) * tail
        start = np.sqrt(_SUMMED + _SHIFT)
        zeroth, square, fourth = _truncated(mean, std, start)
        slope = -stats.norm.pdf((start - mean) / std) / (2 * start * std)  # of S at K + 1/2
        first = first + square - start**2 * zeroth + slope / 24
        second = second + (fourth - 0.75 * square) - (start**4 - 0.75 * start**2) * zeroth
        second = second + (2 * zeroth + 2 * _SUMMED * slope) / 24
        return first, np.maximum(second - first**2, 0)


def _lower_edge(k: np.ndarray) -> np.ndarray:
    return np.where(k > 0, np.sqrt(np.maximum(k - 0.5 + _SHIFT, 0)), -np.inf)


def _upper_edge(k: np.ndarray) -> np.ndarray:
    return np.sqrt(k + 0.5 + _SHIFT)


def _truncated(
    mean: np.ndarray, std: np.ndarray, start: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return E[zⁿ; z > start] of N(mean, std²) for n = 0, 2, 4 (Stein's identity)."""
    gap = (start - mean) / std
    density = std * stats.norm.pdf(gap)
    moments = [special.ndtr(-gap)]
    moments.append(mean * moments[0] + density)
    for n in range(2, 5):
        moments.append(
            mean * moments[n - 1] + (n - 1) * std**2 * moments[n - 2] + start ** (n - 1) * density
        )
    return moments[0], moments[2], moments[4]
