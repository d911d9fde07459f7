"""Noise with several modes: a mixture of Gaussians for every target (Bishop 1994).

p(y | x) = Σ_m π_m N(y | μ_m, σ_m²). The network outputs μ_m and π_m; σ_m² is given.
The modes are the last axis of everything here, after that of the outputs.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp

from vebnn.core.types import Array
from vebnn.likelihoods import gaussian


class Mixture(NamedTuple):
    """Centres and coefficients of the modes, each ``(..., outputs, modes)``."""

    mean: Array
    log_weight: Array  # log π_m; the weights sum to one over modes


def starting_centres(num_modes: int) -> np.ndarray:
    """Return where the modes of a network with all outputs zero are, in standardised units.

    They are evenly spaced, from one std of the targets below their mean to one above.
    """
    return np.linspace(-1.0, 1.0, num_modes) if num_modes > 1 else np.zeros(1)


def starting_variance(num_modes: int) -> float:
    """Return the noise to start with: a std of a quarter of the way from one centre to the next.

    Modes start apart and in the same order at every x, and the noise is small enough that each row
    belongs to the nearest mode. With a larger noise all modes would first move to the mean and then
    separate differently at different x. Training cannot correct such exchanged branches.
    """
    return (0.5 / (num_modes - 1)) ** 2 if num_modes > 1 else 1.0


def from_network(raw: Array, num_modes: int) -> Mixture:
    """Split ``(..., 2 · outputs · modes)`` network outputs into means and logits of the weights.

    Means are counted from the :func:`starting_centres`.
    """
    mean, logit = (by_mode(part, num_modes) for part in jnp.split(raw, 2, axis=-1))
    centre = jnp.asarray(starting_centres(num_modes), mean.dtype)
    centre = centre.reshape((1,) * (mean.ndim - 1) + centre.shape)
    return Mixture(mean + centre, jax.nn.log_softmax(logit, axis=-1))


def by_mode(flat: Array, num_modes: int) -> Array:
    """Return ``(..., outputs, modes)`` from ``(..., outputs · modes)``."""
    return flat.reshape(*flat.shape[:-1], -1, num_modes)


def flat(modes: Array) -> Array:
    """Return ``(..., outputs · modes)`` from ``(..., outputs, modes)``."""
    return modes.reshape(*modes.shape[:-2], -1)


def log_joint(target: Array, mixture: Mixture, variance: Array) -> Array:
    """Return log π_m N(y | μ_m, σ_m²), one for every target and mode."""
    by_component = gaussian.log_prob(target[..., None], mixture.mean, variance)
    return mixture.log_weight + by_component


def log_prob(target: Array, mixture: Mixture, variance: Array) -> Array:
    """Return log Σ_m π_m N(y | μ_m, σ_m²), elementwise in the targets."""
    return logsumexp(log_joint(target, mixture, variance), axis=-1)


def responsibilities(target: Array, mixture: Mixture, variance: Array) -> Array:
    """Return how probable it is that each target came from each mode, by Bayes' rule."""
    return jax.nn.softmax(log_joint(target, mixture, variance), axis=-1)


def mean_and_variance(mixture: Mixture, variance: Array) -> tuple[Array, Array]:
    """Return mean and variance of each target: within the modes, and between them."""
    weight = jnp.exp(mixture.log_weight)
    mean = jnp.sum(weight * mixture.mean, axis=-1)
    around = variance + (mixture.mean - mean[..., None]) ** 2
    return mean, jnp.sum(weight * around, axis=-1)
