"""Isotropic Gaussian prior over weights, N(0, 1/κ) (paper, eq. 10)."""

import jax
import jax.numpy as jnp

from vebnn.core.types import Array, Params


def log_prob(weight: Array, precision: Array | float) -> Array:
    """Return log N(weight | 0, 1/κ), elementwise; κ is ``precision``."""
    return 0.5 * (jnp.log(precision) - jnp.log(2 * jnp.pi) - precision * weight**2)


def total_log_prob(params: Params, precision: Array | float) -> Array:
    """Return the log prior of a whole pytree of weights."""
    return sum(jnp.sum(log_prob(leaf, precision)) for leaf in jax.tree.leaves(params))


def expected_log_prob(mean: Params, std: Params, precision: Array | float) -> Array:
    """Return the mean of the log prior over independent weights of given mean and std.

    It is that of the means, less κ/2 times the sum of the variances.
    """
    variances = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(std))
    return total_log_prob(mean, precision) - 0.5 * precision * variances
