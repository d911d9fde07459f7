"""Heads of the variance network: the Gamma, and the losses it is compared with.

A head turns the network's raw outputs into a variance, and scores it by squared residuals r: with an
objective to train on, and with a log-density for validation. ``offset`` is the part of r's mean that
is not noise.
"""

from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vebnn.core.types import Array
from vebnn.likelihoods import beta_nll, gamma, gaussian, natural

VarianceLoss = Literal["gamma", "gamma_half", "gamma_rate", "nll", "beta_nll", "natural"]


MOST_LOG = 30.0  # keeps exp finite


class GammaHead(eqx.Module):
    """Mean and shape of a Gamma (paper, eq. 6).

    The mean is the variance (eq. 8). As an output of its own it can become small with weights of
    ordinary size; the ratio α/λ needs a huge λ for that, which the prior penalises.
    """

    parts: ClassVar[int] = 2

    def variance(self, raw: Array) -> Array:
        """Return the mean; it is one, the size of rescaled residuals, for an output of zero."""
        return self._mean_and_shape(raw)[0]

    def objective(self, raw: Array, squared_residual: Array, offset: Array) -> Array:
        """Return log Gamma(r), elementwise."""
        mean, shape = self._mean_and_shape(raw)
        return gamma.log_prob(squared_residual, gamma.Gamma(shape, shape / (mean + offset)))

    def _mean_and_shape(self, raw: Array) -> tuple[Array, Array]:
        # Softplus before the split: XLA does not vectorise it on a part of an array.
        mean, shape = jnp.split(jax.nn.softplus(raw), 2, axis=-1)
        return mean / np.log(2) + gaussian.SMALLEST_VARIANCE, shape + gamma.SMALLEST_PARAMETER

    log_prob = objective


class GammaHalfHead(eqx.Module):
    """Logarithm of the mean of a Gamma of shape 1/2, that of squared Gaussian residuals (eq. 5).

    It is the likelihood of a Gaussian residual. The mean is the variance, and one, the size of rescaled
    residuals, for an output of zero.
    """

    parts: ClassVar[int] = 1

    def variance(self, raw: Array) -> Array:
        """Return the mean."""
        return jnp.exp(jnp.clip(raw, -MOST_LOG, MOST_LOG)) + gaussian.SMALLEST_VARIANCE

    def objective(self, raw: Array, squared_residual: Array, offset: Array) -> Array:
        """Return log Gamma(r), elementwise."""
        mean = self.variance(raw) + offset
        return gamma.log_prob(squared_residual, gamma.Gamma(jnp.full_like(mean, 0.5), 0.5 / mean))

    log_prob = objective


class GammaRateHead(eqx.Module):
    """Shape α and rate λ of a Gamma, as in the paper (eqs. 6 and 8)."""

    parts: ClassVar[int] = 2

    def variance(self, raw: Array) -> Array:
        """Return α/λ."""
        return gamma.from_network(raw).mean

    def objective(self, raw: Array, squared_residual: Array, offset: Array) -> Array:
        """Return log Gamma(r), elementwise."""
        return gamma.log_prob(squared_residual, gamma.from_network(raw).plus(offset))

    log_prob = objective


class GaussianHead(eqx.Module):
    """The variance itself, with a Gaussian residual: β-NLL (paper, eq. 29) with the mean fixed."""

    beta: Array
    parts: ClassVar[int] = 1

    def variance(self, raw: Array) -> Array:
        """Return softplus of the output."""
        return gaussian.variance_from_network(raw)

    def objective(self, raw: Array, squared_residual: Array, offset: Array) -> Array:
        """Return the weighted log N(√r | 0, variance + offset), elementwise."""
        residual, zero = jnp.sqrt(squared_residual), jnp.zeros_like(squared_residual)
        return beta_nll.weighted_log_prob(residual, zero, self.variance(raw) + offset, self.beta)

    def log_prob(self, raw: Array, squared_residual: Array, offset: Array) -> Array:
        """Return log N(√r | 0, variance + offset), whatever β is."""
        residual, zero = jnp.sqrt(squared_residual), jnp.zeros_like(squared_residual)
        return gaussian.log_prob(residual, zero, self.variance(raw) + offset)


class NaturalHead(eqx.Module):
    """The second natural parameter of a Gaussian residual (Immer et al. 2023) with the mean fixed."""

    parts: ClassVar[int] = 1

    def variance(self, raw: Array) -> Array:
        """Return −1/(2η₂)."""
        return natural.Natural(jnp.zeros_like(raw), natural.negative_half_precision(raw)).variance

    def objective(self, raw: Array, squared_residual: Array, offset: Array) -> Array:
        """Return log N(√r | 0, variance + offset), elementwise."""
        residual, zero = jnp.sqrt(squared_residual), jnp.zeros_like(squared_residual)
        return gaussian.log_prob(residual, zero, self.variance(raw) + offset)

    log_prob = objective


VARIANCE_HEADS: dict[VarianceLoss, Any] = {
    "gamma": GammaHead(),
    "gamma_half": GammaHalfHead(),
    "gamma_rate": GammaRateHead(),
    "nll": GaussianHead(np.float32(0)),
    "beta_nll": GaussianHead(np.float32(0.5)),
    "natural": NaturalHead(),
}
