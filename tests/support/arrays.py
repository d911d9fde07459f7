"""Small data sets and networks in standardised units, made of plain arrays."""

from typing import Any

import jax
import numpy as np

from vebnn.core.types import Dataset, NoisyDataset, ResidualDataset
from vebnn.networks import Network, build_networks


def dataset(x: Any, target: Any, weight: Any = 1.0, known_variance: Any = 0.0) -> Dataset:
    return Dataset(*_rows(x, target, weight, known_variance))


def noisy(x: Any, target: Any, weight: Any = 1.0, noise_variance: Any = 1.0) -> NoisyDataset:
    return NoisyDataset(*_rows(x, target, weight, noise_variance))


def residuals(x: Any, squared: Any, weight: Any = 1.0, offset: Any = 0.0) -> ResidualDataset:
    return ResidualDataset(*_rows(x, squared, weight, offset))


def _rows(x: Any, target: Any, *more: Any) -> tuple[np.ndarray, ...]:
    target = np.asarray(target, np.float32)
    full = (np.broadcast_to(np.asarray(one, np.float32), target.shape) for one in more)
    return np.asarray(x, np.float32), target, *full


def networks(recipe: Any, in_size: int, out_size: int, count: int = 1) -> Network:
    """Return stacked networks whose weights are NumPy arrays, which a test may change."""
    keys = jax.random.split(jax.random.key(0), count)
    return jax.tree.map(np.array, build_networks(recipe, (in_size,), out_size, keys))
