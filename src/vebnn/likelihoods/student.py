"""Student-t noise: a Gaussian whose precision differs from one observation to the next.

    y | τ ~ N(μ, s²/τ),  τ ~ Gamma(ν/2, ν/2),

with squared scale s² and ν degrees of freedom. Its variance is s² ν/(ν − 2) for ν > 2.
"""

import jax.numpy as jnp
from jax.scipy.special import gammaln

from vebnn.core.types import Array


def variance_of(squared_scale: Array, freedom: Array) -> Array:
    """Return the variance s² ν/(ν − 2)."""
    return squared_scale * freedom / (freedom - 2)


def squared_scale_of(variance: Array, freedom: Array) -> Array:
    """Return the squared scale s² of a given variance."""
    return variance * (freedom - 2) / freedom


def expected_precision(squared_residual: Array, squared_scale: Array, freedom: Array) -> Array:
    """Return E[τ | y] = (ν + 1)/(ν + r/s²), the weight of an observation; r is (y − μ)²."""
    return (freedom + 1) / (freedom + squared_residual / squared_scale)


def log_prob(target: Array, mean: Array, variance: Array, freedom: Array) -> Array:
    """Return the log-density of the Student-t with this variance, elementwise."""
    squared_scale = squared_scale_of(variance, freedom)
    distance = jnp.log1p((target - mean) ** 2 / (freedom * squared_scale))
    constant = gammaln((freedom + 1) / 2) - gammaln(freedom / 2)
    return constant - 0.5 * (jnp.log(jnp.pi * freedom * squared_scale) + (freedom + 1) * distance)
