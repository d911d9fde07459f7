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
from vebnn.training.batches import LARGE, some_rows, take
from vebnn.training.streaming import HostRows, on_host

PIECE_ROWS = 2**16  # of large tables and of rows that stay with the host


def mean_log_marginal_likelihood(
    draws: Any, observed: NoisyDataset, freedom: Array | None = None
) -> float:
    """Return LMglk per observation; of large tables, that of some of their rows."""
    some = some_rows(observed)
    return float(np.asarray(log_marginal_likelihood(draws, some, freedom)) / some.weight.sum())


def log_marginal_likelihood(draws: Any, observed: NoisyDataset, freedom: Array | None = None) -> Array:
    """Return LMglk = log E_θ[p(y | θ, φ)] over pooled draws, on the given rows (Algorithm 1).

    The ``freedom`` is that of Student-t noise, ``(outputs,)``; None is Gaussian noise.
    """
    mapped = isinstance(observed.x, HostRows)
    if mapped or (len(observed.x) > LARGE and not is_wide(observed.x)):
        return log_mean_exp(_log_likelihoods(draws, observed, freedom))
    if is_wide(observed.x):
        outputs = evaluate_draws(draws, observed.x)
        return log_mean_exp(np.asarray([log_likelihood(one, observed, freedom) for one in outputs]))
    rows = take(observed, np.asarray(all_rows(len(observed.x))[0]))
    return _log_marginal_likelihood(draws, rows, freedom)


def _log_likelihoods(draws: Any, observed: NoisyDataset, freedom: Array | None) -> np.ndarray:
    """Return the log-likelihood of every draw, from pieces of rows, one for each device at a time."""
    devices, size, total = jax.local_devices(), len(observed.x), np.zeros(())
    starts = range(0, size, PIECE_ROWS)
    for first in range(0, len(starts), len(devices)):
        waiting = []
        for start, device in zip(starts[first:], devices, strict=False):
            rows = np.arange(start, start + PIECE_ROWS)
            piece = on_host(observed, np.minimum(rows, size - 1))
            weight = piece.weight * (rows < size).reshape(-1, *[1] * (piece.weight.ndim - 1))
            piece = jax.device_put(piece._replace(weight=weight), device)
            waiting.append(_of_draws(draws, piece, freedom))
        total = total + sum(np.asarray(one, float) for one in waiting)
    return total


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
