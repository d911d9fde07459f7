"""The Gaussian in natural parameters (Immer et al. 2023): a loss that is convex in both of them.

log N(y) = η₁ y + η₂ y² + η₁²/(4η₂) + ½ log(−2η₂) − ½ log 2π with η₁ = μ/σ² and η₂ = −1/(2σ²).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from vebnn.core.types import Array

SMALLEST_PRECISION = 1e-6


class Natural(NamedTuple):
    """The two natural parameters; η₂ is negative."""

    eta1: Array
    eta2: Array

    @property
    def mean(self) -> Array:
        """μ = −η₁/(2η₂)."""
        return -self.eta1 / (2 * self.eta2)

    @property
    def variance(self) -> Array:
        """σ² = −1/(2η₂)."""
        return -1 / (2 * self.eta2)


def from_network(raw: Array) -> Natural:
    """Split ``(..., 2·outputs)`` network outputs into η₁ and η₂ = −½ softplus."""
    eta1, free = jnp.split(raw, 2, axis=-1)
    return Natural(eta1, negative_half_precision(free))


def negative_half_precision(free: Array) -> Array:
    """Map any number to an η₂ < 0."""
    return -0.5 * (jax.nn.softplus(free) + SMALLEST_PRECISION)
