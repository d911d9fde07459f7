"""Small images for fleets of runs, and the cheapest network that looks at more than their mean."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vebnn.core.types import NoisyDataset
from vebnn.networks import Network, build_networks

SHAPE = (28, 28, 1)


class Patch(eqx.Module):
    """A few means of pixels, and a linear layer."""

    weight: jax.Array

    def __call__(self, x, *, key=None):
        return self.weight @ jnp.mean(x.reshape(4, 7, 4, 7), (1, 3)).ravel()


def patches(num_rows: int) -> NoisyDataset:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 255, (num_rows, *SHAPE)).astype(np.uint8)
    target = rng.standard_normal((num_rows, 1)).astype(np.float32)
    return NoisyDataset(x, target, np.ones_like(target), np.ones_like(target))


def patch_networks(num: int) -> Network:
    keys = jax.random.split(jax.random.key(0), num)
    return build_networks(Patch(0.3 * jnp.ones((1, 16))), SHAPE, 1, keys)
