"""Networks that output a whole mixture: means, weights and variances of labelled modes."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from vebnn.core.types import Array, Key
from vebnn.likelihoods.mixture import Mixture, by_mode, flat, from_network, moments


class WholeMixture(eqx.Module):
    """A network that outputs means, log-weights and variances of its modes, in a given order."""

    network: Any
    order: Array  # (outputs, modes): which of the network's modes comes first, second, ...
    noise: Any  # maps one example to the variances of the network's modes

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        """Map one example to ``(..., 3 · outputs · modes)``: means, log-weights and variances."""
        num_modes = self.order.shape[-1]
        # Before reordering: the mean of a mode is an offset from its own starting centre.
        own = from_network(self.network(x, key=key), num_modes)
        parts = (*own, by_mode(self.noise(x), num_modes))
        order = self.order.reshape((1,) * (own.mean.ndim - 2) + self.order.shape)
        ordered = [jnp.take_along_axis(part, order, axis=-1) for part in parts]
        return jnp.concatenate([flat(part) for part in ordered], axis=-1)


class MixtureMoments(eqx.Module):
    """A network that outputs the mixture's mean and variance side by side."""

    whole: WholeMixture
    num_modes: int = eqx.field(static=True)

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        """Map one example to ``(..., 2 · outputs)``."""
        mixture, variance = split_whole(self.whole(x, key=key), self.num_modes)
        return jnp.concatenate(moments(mixture, variance), axis=-1)


def split_whole(outputs: Array, num_modes: int) -> tuple[Mixture, Array]:
    """Return mixture and variances, ``(..., outputs, modes)`` each, from a whole network's outputs.

    Outputs may be means over draws; weights are normalised again.
    """
    mean, log_weight, variance = (by_mode(part, num_modes) for part in jnp.split(outputs, 3, axis=-1))
    return Mixture(mean, jax.nn.log_softmax(log_weight, axis=-1)), variance
