"""Deep evidential regression (Amini et al. 2020): a distribution over means and variances.

The network outputs a normal-inverse-gamma: σ² ~ InverseGamma(α, β), μ | σ² ~ N(γ, σ²/ν). With both
integrated out, y is Student's t with 2α degrees of freedom.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from vebnn.core.types import Array
from vebnn.likelihoods.log_gamma import log_gamma

SMALLEST_PARAMETER = 1e-6


class NormalInverseGamma(NamedTuple):
    """γ, ν, α and β of Amini et al., eq. 4."""

    location: Array
    evidence: Array
    shape: Array
    rate: Array

    @property
    def aleatoric_variance(self) -> Array:
        """E[σ²] = β/(α − 1) (their eq. 5)."""
        return self.rate / (self.shape - 1)

    @property
    def epistemic_variance(self) -> Array:
        """Var[μ] = β/(ν(α − 1)) (their eq. 5)."""
        return self.aleatoric_variance / self.evidence


def from_network(raw: Array) -> NormalInverseGamma:
    """Split ``(..., 4·outputs)`` network outputs; ν, β > 0 and α > 1 through softplus."""
    location, *free = jnp.split(raw, 4, axis=-1)
    evidence, shape, rate = (jax.nn.softplus(one) + SMALLEST_PARAMETER for one in free)
    return NormalInverseGamma(location, evidence, shape + 1, rate)


def log_prob(target: Array, given: NormalInverseGamma) -> Array:
    """Return the log of Student's t, elementwise: minus eq. 8 of Amini et al."""
    location, nu, alpha, beta = given
    omega = 2 * beta * (1 + nu)
    return (
        0.5 * jnp.log(nu / jnp.pi)
        + alpha * jnp.log(omega)
        - (alpha + 0.5) * jnp.log(nu * (target - location) ** 2 + omega)
        + log_gamma(alpha + 0.5)
        - log_gamma(alpha)
    )


def misplaced_evidence(target: Array, given: NormalInverseGamma) -> Array:
    """Return |y − γ| · (2ν + α), the regulariser: evidence costs where it is wrong (their eq. 9)."""
    return jnp.abs(target - given.location) * (2 * given.evidence + given.shape)
