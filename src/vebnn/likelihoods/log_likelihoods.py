"""Log-likelihoods of a network's parameters, summed over a batch; and the prior of its weights."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vebnn.core import prng
from vebnn.core.blocks import by_blocks, is_wide
from vebnn.core.types import Array, Dataset, Key, Module, NoisyDataset, Params, ResidualDataset
from vebnn.likelihoods import gaussian, mixture, prior


class GaussianNoiseGiven(eqx.Module):
    """Steps 1 and 3: the network is the mean, the noise comes with the data (eq. 10)."""

    def __call__(self, network: Module, batch: NoisyDataset, key: Key | None) -> Array:
        """Return Σ log N(y | μ(x; θ), variance)."""
        mean = apply_to_rows(network, batch.x, key)
        return jnp.sum(batch.weight * gaussian.log_prob(batch.target, mean, batch.noise_variance))


class CorrelatedNoiseGiven(eqx.Module):
    """As :class:`GaussianNoiseGiven`, with noise that is correlated between the outputs of a row."""

    whitener: Array  # the inverse of the Cholesky factor of the correlation, (outputs, outputs)

    @classmethod
    def of(cls, correlation: np.ndarray) -> "CorrelatedNoiseGiven":
        """Return the likelihood with a correlation of the outputs' noise."""
        return cls(np.float32(np.linalg.inv(np.linalg.cholesky(np.float64(correlation)))))

    def __call__(self, network: Module, batch: NoisyDataset, key: Key | None) -> Array:
        """Return Σ log N(y | μ(x; θ), L Lᵀ), L the Cholesky factor diag(std) chol(correlation).

        Entry by entry, it is the density of an output given those before it. All outputs of a row have
        the same weight.
        """
        error = batch.target - apply_to_rows(network, batch.x, key)
        white = (error / jnp.sqrt(batch.noise_variance)) @ self.whitener.T
        log_slope = jnp.broadcast_to(jnp.log(jnp.diagonal(self.whitener)), white.shape)
        density = log_slope - 0.5 * (jnp.log(2 * jnp.pi * batch.noise_variance) + white**2)
        return jnp.sum(batch.weight * density)


class SquaredResiduals(eqx.Module):
    """Step 2: the network is the noise, the targets are squared residuals (eq. 6)."""

    head: Any  # see vebnn.likelihoods.variance_heads
    density: bool = eqx.field(default=False, static=True)  # return the log-density, not the objective

    def __call__(self, network: Module, batch: ResidualDataset, key: Key | None) -> Array:
        """Return the weighted sum of the head's objective, or of its log-density."""
        raw = apply_to_rows(network, batch.x, key)
        score = self.head.log_prob if self.density else self.head.objective
        return jnp.sum(batch.weight * score(raw, batch.squared, batch.offset))


class MeanAndNoise(eqx.Module):
    """Joint methods: one network is the mean and the noise beyond what is known."""

    head: Any  # see vebnn.likelihoods.heads
    density: bool = eqx.field(default=False, static=True)  # as in SquaredResiduals

    def __call__(self, network: Module, batch: Dataset, key: Key | None) -> Array:
        """Return the weighted sum of the head's objective, or of its log-density."""
        raw = apply_to_rows(network, batch.x, key)
        score = self.head.log_prob if self.density else self.head.objective
        return jnp.sum(batch.weight * score(raw, batch.target, batch.known_variance))


class MixtureNoiseGiven(eqx.Module):
    """The network is means and weights of modes; the noise of each mode comes with the data."""

    def __call__(self, network: Module, batch: NoisyDataset, key: Key | None) -> Array:
        """Return Σ log Σ_m π_m(x; θ) N(y | μ_m(x; θ), σ_m²)."""
        raw = apply_to_rows(network, batch.x, key)
        modes = mixture.from_network(raw, batch.noise_variance.shape[-1])
        return jnp.sum(batch.weight * mixture.log_prob(batch.target, modes, batch.noise_variance))


class ModesAndNoise(NamedTuple):
    """Parameters of a mixture whose noise is constant: a network, and one number for every mode."""

    network: Params
    log_variance: Array  # (outputs, modes)

    @property
    def variance(self) -> Array:
        """Variance of every mode; bounded below, because a mode can collapse onto a single row."""
        return jnp.exp(self.log_variance) + gaussian.SMALLEST_VARIANCE


class MixtureNoiseLearned(eqx.Module):
    """As :class:`MixtureNoiseGiven`, with a constant noise per mode that is learned as well."""

    def __call__(self, params: ModesAndNoise, batch: Dataset, key: Key | None) -> Array:
        """Return Σ log Σ_m π_m(x; θ) N(y | μ_m(x; θ), σ_m² + known variance)."""
        noise = params.variance
        noise = noise.reshape((1,) * (batch.known_variance.ndim - 1) + noise.shape)
        variance = batch.known_variance[..., None] + noise
        given = NoisyDataset(batch.x, batch.target, batch.weight, variance)
        return MixtureNoiseGiven()(params.network, given, key)


class IsotropicPrior(eqx.Module):
    """N(0, 1/κ) on every weight; κ is an array, so that another κ needs no new compilation."""

    precision: Array

    @classmethod
    def decay(cls, factor: float, weight: np.ndarray, *, of_squares: bool = False) -> "IsotropicPrior":
        """Return the prior equal to PyTorch's L2 factor, decay/2 · θ² beside a *mean* loss.

        Args:
          factor: the decay.
          weight: how often each training target counts.
          of_squares: whether that loss is the mean of r²; our sum is of r²/2, so κ is halved.
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
    """Apply a network to every row, each with its own key for augmentation and dropout.

    Without a key, as in the monitors of early stopping, wide rows go by blocks.
    """
    if key is None:
        return by_blocks(jax.vmap(network), x) if is_wide(x) else jax.vmap(network)(x)
    keys = prng.split(key, x.shape[0])
    return jax.vmap(lambda row, key: network(network.augment(row, key), key=key))(x, keys)
