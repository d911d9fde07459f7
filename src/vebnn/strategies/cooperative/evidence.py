"""The log marginal likelihood LMglk, by which Algorithm 1 stops Step 2 and chooses a round."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp

from vebnn.core.blocks import by_blocks, is_wide
from vebnn.core.types import Array, NoisyDataset
from vebnn.inference.evaluation import evaluate_draws, map_draws
from vebnn.likelihoods import gaussian
from vebnn.training import all_rows
from vebnn.training.batches import take


def log_marginal_likelihood(draws: Any, observed: NoisyDataset) -> Array:
    """Return LMglk = log E_θ[p(y | θ, φ)] over pooled draws, on the given rows (Algorithm 1)."""
    if is_wide(observed.x):
        outputs = evaluate_draws(draws, observed.x)
        return log_mean_exp(np.asarray([log_likelihood(one, observed) for one in outputs]))
    return _log_marginal_likelihood(draws, take(observed, np.asarray(all_rows(len(observed.x))[0])))


@eqx.filter_jit
def _log_marginal_likelihood(draws: Any, observed: NoisyDataset) -> Array:
    def of_draw(network: Any) -> Array:
        return log_likelihood(by_blocks(jax.vmap(network), observed.x), observed)

    return log_mean_exp(map_draws(of_draw, draws))


def log_likelihood(outputs: Array, observed: NoisyDataset) -> Array:
    """Return Σ log N(y | outputs, noise variance), weighted."""
    log_prob = gaussian.log_prob(observed.target, outputs, observed.noise_variance)
    return jnp.sum(observed.weight * log_prob)


def log_mean_exp(values: Array) -> Array:
    """Return the log of the mean of exp(values)."""
    return logsumexp(values) - jnp.log(values.shape[0])
