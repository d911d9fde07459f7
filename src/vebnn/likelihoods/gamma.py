"""Gamma likelihood of squared residuals (paper, eq. 6): the loss of the variance network.

If y ~ N(μ, σ²) and μ is right, the squared residual r = (y − μ)² is Gamma(1/2, 1/(2σ²)), whose mean
α/λ is σ². The variance network outputs α and λ, so its gradients carry no high powers of σ (eq. 7).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from vebnn.core.types import Array
from vebnn.likelihoods.log_gamma import log_gamma

# Added to r before the logarithm: a residual of exactly zero is a finite, if unlikely, event.
SMALLEST_RESIDUAL = 1e-12
# Keeps α and λ away from zero where softplus underflows in single precision.
SMALLEST_PARAMETER = 1e-6


class Gamma(NamedTuple):
    """Shape α and rate λ of a Gamma distribution."""

    shape: Array
    rate: Array

    @property
    def mean(self) -> Array:
        """α/λ: the aleatoric variance (paper, eq. 8)."""
        return self.shape / self.rate

    def plus(self, offset: Array) -> "Gamma":
        """Return the Gamma of the same shape whose mean is larger by ``offset``.

        The squared residual of a prediction with variance ``offset`` has mean σ² + offset: giving
        the known part here leaves only σ² to be learned.
        """
        return Gamma(self.shape, self.shape / (self.mean + offset))


def from_network(raw: Array) -> Gamma:
    """Split ``(..., 2·outputs)`` network outputs into α and λ, made positive by softplus."""
    positive = jax.nn.softplus(raw) + SMALLEST_PARAMETER
    shape, rate = jnp.split(positive, 2, axis=-1)
    return Gamma(shape, rate)


def log_prob(squared_residual: Array, gamma: Gamma) -> Array:
    """Return log Gamma(r | α, λ), elementwise: minus the summand of eq. 6."""
    alpha, lam = gamma
    log_residual = jnp.log(squared_residual + SMALLEST_RESIDUAL)
    return alpha * jnp.log(lam) - log_gamma(alpha) + (alpha - 1) * log_residual - lam * squared_residual
