"""Gaussian observations with a given variance (paper, eqs. 2 and 10)."""

import jax
import jax.numpy as jnp

from vebnn.core.types import Array

SMALLEST_VARIANCE = 1e-6


def log_prob(target: Array, mean: Array, variance: Array) -> Array:
    """Return log N(target | mean, variance), elementwise."""
    return -0.5 * (jnp.log(2 * jnp.pi * variance) + (target - mean) ** 2 / variance)


def variance_from_network(free: Array) -> Array:
    """Map any number to a variance: softplus, kept away from zero."""
    return jax.nn.softplus(free) + SMALLEST_VARIANCE
