"""Network × likelihood: log-likelihoods of parameters, summed over a batch."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vebnn.core import prng
from vebnn.core.types import Array, Dataset, Key, Module, Params
from vebnn.likelihoods import gaussian, mixture, prior

SMALLEST_VARIANCE = 1e-6


class GaussianNoiseGiven(eqx.Module):
    """Steps 1 and 3: the network is the mean, the variance comes with the data (eq. 10)."""

    skeleton: Any

    def __call__(self, params: Params, batch: Dataset, key: Key | None) -> Array:
        """Return Σ log N(y | μ(x; θ), variance)."""
        mean = apply_to_rows(eqx.combine(params, self.skeleton), batch.x, key)
        return jnp.sum(batch.weight * gaussian.log_prob(batch.target, mean, batch.variance))


class HeadObjective(eqx.Module):
    """What a head trains on: Step 2, and all of the joint methods.

    In Step 2 targets are squared residuals, and the data's ``variance`` is the part of their mean that
    is not noise.
    """

    skeleton: Any
    head: Any  # see vebnn.likelihoods.heads and vebnn.likelihoods.variance_heads

    def __call__(self, params: Params, batch: Dataset, key: Key | None) -> Array:
        """Return the weighted sum of the head's objective."""
        raw = apply_to_rows(eqx.combine(params, self.skeleton), batch.x, key)
        return jnp.sum(batch.weight * self.head.objective(raw, batch.target, batch.variance))


class HeadDensity(eqx.Module):
    """What a head is judged by: for most it is what it trains on."""

    skeleton: Any
    head: Any

    def __call__(self, params: Params, batch: Dataset, key: Key | None) -> Array:
        """Return the weighted sum of the log-density of the targets."""
        raw = apply_to_rows(eqx.combine(params, self.skeleton), batch.x, key)
        return jnp.sum(batch.weight * self.head.log_prob(raw, batch.target, batch.variance))


class MixtureNoiseGiven(eqx.Module):
    """The network is means and weights of modes; the variance of each mode comes with the data.

    The data's ``variance`` has one more axis than their targets: ``(rows, ..., outputs, modes)``.
    """

    skeleton: Any

    def __call__(self, params: Params, batch: Dataset, key: Key | None) -> Array:
        """Return Σ log Σ_m π_m(x; θ) N(y | μ_m(x; θ), σ_m²)."""
        raw = apply_to_rows(eqx.combine(params, self.skeleton), batch.x, key)
        modes = mixture.from_network(raw, batch.variance.shape[-1])
        return jnp.sum(batch.weight * mixture.log_prob(batch.target, modes, batch.variance))


class ModesAndNoise(NamedTuple):
    """Parameters of a mixture whose noise is constant: a network, and one number for every mode."""

    network: Params
    log_variance: Array  # (outputs, modes)

    @property
    def variance(self) -> Array:
        """Variance of every mode; not quite zero, where a mode would sit on a single row."""
        return jnp.exp(self.log_variance) + SMALLEST_VARIANCE


class MixtureNoiseLearned(eqx.Module):
    """As :class:`MixtureNoiseGiven`, but each mode has a constant noise that is learned along.

    The data's ``variance`` is like their targets: what is known already.
    """

    skeleton: Any

    def __call__(self, params: ModesAndNoise, batch: Dataset, key: Key | None) -> Array:
        """Return Σ log Σ_m π_m(x; θ) N(y | μ_m(x; θ), σ_m²)."""
        noise = params.variance
        noise = noise.reshape((1,) * (batch.variance.ndim - 1) + noise.shape)
        given = batch._replace(variance=batch.variance[..., None] + noise)
        return MixtureNoiseGiven(self.skeleton)(params.network, given, key)


class IsotropicPrior(eqx.Module):
    """N(0, 1/κ) on every weight; κ is an array, so that another κ needs no new compilation."""

    precision: Array

    @classmethod
    def decay(cls, factor: float, weight: np.ndarray, *, of_squares: bool = False) -> "IsotropicPrior":
        """Return the prior that is an L2 factor as PyTorch has it, decay/2 · θ² beside a *mean* loss.

        Args:
          factor: the decay.
          weight: how often each target counts that is trained on.
          of_squares: whether the mean is of r²; we add up r²/2, and other losses as they are.
        """
        precision = max(factor, 1e-30) * weight.sum() / (2 if of_squares else 1)
        return cls(np.float32(precision))

    def __call__(self, params: Params) -> Array:
        """Return log p(θ)."""
        return prior.total_log_prob(params, self.precision)

    def expected_log_prob(self, mean: Params, std: Params) -> Array:
        """Return E[log p(θ)] for independent weights θ of given mean and std."""
        return prior.expected_log_prob(mean, std, self.precision)


def apply_to_rows(network: Module, x: Array, key: Key | None) -> Array:
    """Apply a network to every row, each with its own key for dropout."""
    if key is None:
        return jax.vmap(network)(x)
    return jax.vmap(lambda row, key_row: network(row, key=key_row))(x, prng.split(key, x.shape[0]))
