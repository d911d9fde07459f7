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
from vebnn.likelihoods import gaussian, student
from vebnn.training import all_rows
from vebnn.training.batches import take
from vebnn.training.streaming import HostRows, on_host

PIECE_ROWS = 2**16  # of rows that stay with the host


def log_marginal_likelihood(draws: Any, observed: NoisyDataset, freedom: Array | None = None) -> Array:
    """Return LMglk = log E_θ[p(y | θ, φ)] over pooled draws, on the given rows (Algorithm 1).

    The ``freedom`` is that of Student-t noise, ``(outputs,)``; None is Gaussian noise.
    """
    if isinstance(observed.x, HostRows):
        return log_mean_exp(_log_likelihoods(draws, observed, freedom))
    if is_wide(observed.x):
        outputs = evaluate_draws(draws, observed.x)
        return log_mean_exp(np.asarray([log_likelihood(one, observed, freedom) for one in outputs]))
    rows = take(observed, np.asarray(all_rows(len(observed.x))[0]))
    return _log_marginal_likelihood(draws, rows, freedom)


def _log_likelihoods(draws: Any, observed: NoisyDataset, freedom: Array | None) -> np.ndarray:
    """Return the log-likelihood of every draw, from pieces of rows that stay with the host."""
    total: Any = 0
    for start in range(0, len(observed.x), PIECE_ROWS):
        rows = np.arange(start, start + PIECE_ROWS)
        piece = on_host(observed, np.minimum(rows, len(observed.x) - 1))
        weight = piece.weight * (rows < len(observed.x)).reshape(-1, *[1] * (piece.weight.ndim - 1))
        total = total + np.asarray(_of_draws(draws, piece._replace(weight=weight), freedom), float)
    return np.asarray(total)


@eqx.filter_jit
def _log_marginal_likelihood(draws: Any, observed: NoisyDataset, freedom: Array | None) -> Array:
    return log_mean_exp(_of_draws(draws, observed, freedom))


@eqx.filter_jit
def _of_draws(draws: Any, observed: NoisyDataset, freedom: Array | None) -> Array:
    def of_draw(network: Any) -> Array:
        return log_likelihood(by_blocks(jax.vmap(network), observed.x), observed, freedom)

    return map_draws(of_draw, draws)


def log_likelihood(outputs: Array, observed: NoisyDataset, freedom: Array | None = None) -> Array:
    """Return Σ log p(y | outputs, noise variance), weighted."""
    given = (observed.target, outputs, observed.noise_variance)
    if freedom is None:
        log_prob = gaussian.log_prob(*given)
    else:
        log_prob = student.log_prob(*given, jnp.broadcast_to(freedom, outputs.shape))
    return jnp.sum(observed.weight * log_prob)


def log_mean_exp(values: Array) -> Array:
    """Return the log of the mean of exp(values)."""
    return logsumexp(values) - jnp.log(values.shape[0])
