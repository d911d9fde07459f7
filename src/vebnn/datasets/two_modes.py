"""Toy data with two modes at every x, each with its own noise.

The paper uses an example of Harakeh et al. (2023) with "two separate modes for each input x, and their
variance changes with different x values". It does not print the formula; this one is our own.
"""

from typing import NamedTuple

import numpy as np
from scipy import special, stats

DATA_RANGE = (0.0, 8.0)
UPPER_WEIGHT = 0.6


class TwoModes(NamedTuple):
    """Samples of two branches."""

    X: np.ndarray  # (n, 1)
    y: np.ndarray  # (n,)
    upper: np.ndarray  # (n,): whether a row is from the upper branch; not for training


class Truth(NamedTuple):
    """The two modes at some x; ``(2, *shape of x)`` each, the upper branch first."""

    mean: np.ndarray
    std: np.ndarray
    weight: np.ndarray


def true_modes(x: np.ndarray) -> Truth:
    """Return the branches 2.5 + sin x and −2.5 + cos x, with stds 0.2 + 0.05 x and 1 − 0.1 x."""
    x = np.asarray(x, float)
    return Truth(
        mean=np.stack([2.5 + np.sin(x), -2.5 + np.cos(x)]),
        std=np.stack([0.2 + 0.05 * x, 1.0 - 0.1 * x]),
        weight=np.stack([np.full_like(x, UPPER_WEIGHT), np.full_like(x, 1 - UPPER_WEIGHT)]),
    )


def true_log_prob(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the log-density of observations under the truth, elementwise."""
    truth = true_modes(x)
    by_mode = stats.norm.logpdf(y, truth.mean, truth.std)
    return special.logsumexp(by_mode, axis=0, b=truth.weight)


def observe(x: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return one observation at each x, and whether it is from the upper branch."""
    truth = true_modes(x)
    upper = rng.random(x.shape) < truth.weight[0]
    mean, std = (np.where(upper, *part) for part in (truth.mean, truth.std))
    return mean + std * rng.standard_normal(x.shape), upper


def load_two_modes(num_rows: int = 1_000, *, random_state: int = 0) -> TwoModes:
    """Draw training data with x uniform in [0, 8]."""
    rng = np.random.default_rng(random_state)
    x = rng.uniform(*DATA_RANGE, num_rows)
    return TwoModes(x[:, None], *observe(x, rng))
