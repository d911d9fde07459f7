"""Heads of joint methods: the meaning of the outputs of ONE network for mean and noise.

A head turns raw outputs, ``(..., parts · outputs)``, into an objective, a log-density and a prediction.
All functions are elementwise; ``known`` is variance that the network does not have to learn.
"""

from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp

from vebnn.core.types import Array, Key
from vebnn.likelihoods import beta_nll, evidential, gaussian, natural


class Parts(NamedTuple):
    """Mean and the two parts of the variance, of one network or over draws; ``(..., outputs)`` each."""

    mean: Array
    aleatoric_variance: Array
    epistemic_variance: Array  # of one network: predicted by its head, zero for most


class MeanOnly(eqx.Module):
    """The network is the mean; all the noise is known."""

    parts: ClassVar[int] = 1

    def objective(self, raw: Array, target: Array, known: Array) -> Array:
        """Return log N(target | mean, known)."""
        return gaussian.log_prob(target, raw, known)

    log_prob = objective

    def predict(self, raw: Array) -> Parts:
        """Return the mean, without any variance."""
        return Parts(raw, jnp.zeros_like(raw), jnp.zeros_like(raw))


class MeanVariance(eqx.Module):
    """Mean and variance (Nix and Weigend 1994), trained with β-NLL; β = 0 is the plain NLL."""

    beta: Array
    parts: ClassVar[int] = 2

    def objective(self, raw: Array, target: Array, known: Array) -> Array:
        """Return the β-weighted log-density."""
        mean, variance = _mean_and_variance(raw)
        return beta_nll.weighted_log_prob(target, mean, variance + known, self.beta)

    def log_prob(self, raw: Array, target: Array, known: Array) -> Array:
        """Return log N(target | mean, variance + known), whatever β is."""
        mean, variance = _mean_and_variance(raw)
        return gaussian.log_prob(target, mean, variance + known)

    def predict(self, raw: Array) -> Parts:
        """Return mean and variance."""
        mean, variance = _mean_and_variance(raw)
        return Parts(mean, variance, jnp.zeros_like(mean))


class NaturalParameters(eqx.Module):
    """The two natural parameters of a Gaussian (Immer et al. 2023)."""

    parts: ClassVar[int] = 2

    def objective(self, raw: Array, target: Array, known: Array) -> Array:
        """Return log N(target), with known variance added to the network's."""
        given = natural.from_network(raw)
        return gaussian.log_prob(target, given.mean, given.variance + known)

    log_prob = objective

    def predict(self, raw: Array) -> Parts:
        """Return mean and variance."""
        given = natural.from_network(raw)
        return Parts(given.mean, given.variance, jnp.zeros_like(given.mean))


class Evidential(eqx.Module):
    """Normal-inverse-gamma (Amini et al. 2020); it ignores known variance."""

    regulariser: Array  # λ of their eq. 10
    parts: ClassVar[int] = 4

    def objective(self, raw: Array, target: Array, known: Array) -> Array:
        """Return the log of Student's t less λ times the misplaced evidence."""
        given = evidential.from_network(raw)
        penalty = evidential.misplaced_evidence(target, given)
        return evidential.log_prob(target, given) - self.regulariser * penalty

    def log_prob(self, raw: Array, target: Array, known: Array) -> Array:
        """Return the log of Student's t."""
        return evidential.log_prob(target, evidential.from_network(raw))

    def predict(self, raw: Array) -> Parts:
        """Return γ, E[σ²] and Var[μ]."""
        given = evidential.from_network(raw)
        return Parts(given.location, given.aleatoric_variance, given.epistemic_variance)


Head = MeanOnly | MeanVariance | NaturalParameters | Evidential


class PredictedParts(eqx.Module):
    """A network that outputs mean, aleatoric and epistemic variance side by side."""

    network: Any
    head: Any

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        """Map one example to ``(..., 3 · outputs)``."""
        return jnp.concatenate(self.head.predict(self.network(x, key=key)), axis=-1)


def _mean_and_variance(raw: Array) -> tuple[Array, Array]:
    mean, free = jnp.split(raw, 2, axis=-1)
    return mean, gaussian.variance_from_network(free)
