"""The scaling convention: how a mini-batch estimates the log posterior of all rows.

``log_likelihood(params, batch)`` is the SUM over the batch and ``log_prior(params)`` is counted
once. A mini-batch is one of B in its epoch, so B times its log-likelihood is an unbiased estimate
of the full-data one: the mean over an epoch's batches of the gradients below IS the full gradient.
"""

import equinox as eqx
import jax.numpy as jnp

from vebnn.core.types import AnyDataset, Array, Key, LogLikelihood, LogPrior, Params


class Objective(eqx.Module):
    """The negative log posterior (paper, minus eq. 10), estimated from one mini-batch of an epoch."""

    log_likelihood: LogLikelihood
    log_prior: LogPrior

    def __call__(
        self, params: Params, batch: AnyDataset, num_batches: int, key: Key | None = None
    ) -> Array:
        """Return −(B · log-likelihood of the batch + log-prior)."""
        return -(num_batches * self.log_likelihood(params, batch, key) + self.log_prior(params))


class NegativeLogLikelihood(eqx.Module):
    """Mean negative log-likelihood per unit of weight: the default criterion of early stopping."""

    log_likelihood: LogLikelihood

    def __call__(self, params: Params, data: AnyDataset) -> Array:
        """Return the weighted mean over the rows of ``data``."""
        return -self.log_likelihood(params, data, None) / jnp.sum(data.weight)
