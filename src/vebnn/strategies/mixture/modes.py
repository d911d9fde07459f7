"""Labels of modes that agree between networks, and networks that output a whole labelled mixture."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import linear_sum_assignment

from vebnn.core.types import Array, Key
from vebnn.likelihoods.mixture import Mixture, by_mode, flat, from_network, mean_and_variance


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
        return jnp.concatenate(mean_and_variance(mixture, variance), axis=-1)


def split_whole(outputs: Array, num_modes: int) -> tuple[Mixture, Array]:
    """Return mixture and variances, ``(..., outputs, modes)`` each, from a whole network's outputs.

    Outputs may be means over draws; weights are normalised again.
    """
    mean, log_weight, variance = (by_mode(part, num_modes) for part in jnp.split(outputs, 3, axis=-1))
    return Mixture(mean, jax.nn.log_softmax(log_weight, axis=-1)), variance


def match_labels(mean: np.ndarray, reference: Mixture) -> np.ndarray:
    """Assign the modes of each network to those of a reference, for every output on its own.

    The modes of a mixture have no order: two networks may predict the same with labels exchanged. The
    assignment minimises Σ π (μ − μ')², with π and μ' those of the reference.

    Args:
      mean: ``(networks, rows, ..., outputs, modes)``.
      reference: one network's mixture on the same rows.

    Returns:
      ``(networks, outputs, modes)``: position j has the mode that is the reference's j-th.
    """
    num_networks, (num_outputs, num_modes) = len(mean), mean.shape[-2:]
    if num_modes == 1:
        return np.zeros((num_networks, num_outputs, 1), np.int32)
    mine = mean.reshape(num_networks, -1, num_outputs, num_modes).astype(float)
    theirs = np.asarray(reference.mean, float).reshape(-1, num_outputs, num_modes)
    weight = np.exp(np.asarray(reference.log_weight, float)).reshape(theirs.shape)
    # The squares, multiplied out, without the term that does not depend on the assignment.
    cost = np.einsum("roj,nrok->nojk", weight, mine**2)
    cost -= 2 * np.einsum("roj,nrok->nojk", weight * theirs, mine)
    pairs = [linear_sum_assignment(one)[1] for one in cost.reshape(-1, num_modes, num_modes)]
    return np.reshape(pairs, (num_networks, num_outputs, num_modes)).astype(np.int32)


def relabel(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Put ``(networks, rows, ..., outputs, modes)`` in the order of the labels."""
    between = (1,) * (values.ndim - order.ndim)
    order = order.reshape(order.shape[0], *between, *order.shape[1:])
    return np.take_along_axis(values, order, axis=-1)
