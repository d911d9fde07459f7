"""Draws of parameters as functions: what each network in the posterior says about some inputs."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from vebnn.core.types import Array, Dataset, Params
from vebnn.training.batches import round_size

# Rows per compiled block: bounds the memory of a prediction, whatever the number of rows.
BLOCK_ROWS = 1024
MOST_PROBES = 512  # training rows at which draws are looked at; enough for a mean


class Moments(NamedTuple):
    """Mean and variance over draws, each ``(rows, ..., outputs)``."""

    mean: Array
    variance: Array


def probe_rows(data: Dataset) -> np.ndarray:
    """Return the numbers of some rows that count, spread evenly over the data."""
    counting = np.flatnonzero(data.weight.reshape(len(data.x), -1).any(1))
    return counting[np.unique(np.linspace(0, len(counting) - 1, MOST_PROBES).round().astype(int))]


def mask_padding(outputs: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return outputs ``(..., *shape of weight)`` with NaN where the weight is zero, as in padding."""
    return np.where(weight > 0, outputs, np.float32(np.nan))


@eqx.filter_jit
def unravel_draws(like: Params, draws: Array) -> Params:
    """Turn flat vectors ``(chains, draws, parameters)`` into parameters shaped like ``like``."""
    _, unravel = ravel_pytree(like)
    return jax.vmap(jax.vmap(unravel))(draws)


def pool_chains(draws: Params) -> Params:
    """Turn leaves of shape (chains, draws, ...) into (chains · draws, ...)."""
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), draws)  # NumPy: a view


def evaluate(skeleton: Any, params: Params, x: Array) -> np.ndarray:
    """Return the outputs of ONE network for all rows of ``x``."""
    return jax.device_get(_evaluate(skeleton, params, pad_to_bucket(x)))[: len(x)]


@eqx.filter_jit
def _evaluate(skeleton: Any, params: Params, x: Array) -> Array:
    return by_blocks(jax.vmap(eqx.combine(params, skeleton)), x)


def evaluate_draws(skeleton: Any, draws: Params, x: Array) -> np.ndarray:
    """Return the outputs of every draw, ``(draws, rows, ..., outputs)``."""
    return jax.device_get(_evaluate_draws(skeleton, draws, pad_to_bucket(x)))[:, : len(x)]


@eqx.filter_jit
def _evaluate_draws(skeleton: Any, draws: Params, x: Array) -> Array:
    return jax.lax.map(lambda params: by_blocks(jax.vmap(eqx.combine(params, skeleton)), x), draws)


def moments(skeleton: Any, draws: Params, x: Array) -> Moments:
    """Return mean and variance over draws without ever holding draws × rows.

    Welford's recurrence: exact in one pass, and stable in single precision. The variance divides by
    the number of draws, so that it is that of the mixture the draws stand for.
    """
    mean, variance = jax.device_get(_moments(skeleton, draws, pad_to_bucket(x)))
    return Moments(mean[: len(x)], variance[: len(x)])


@eqx.filter_jit
def _moments(skeleton: Any, draws: Params, x: Array) -> Moments:
    def block(rows: Array) -> Moments:
        def add(carry: tuple[Array, Array, Array], params: Params) -> tuple:
            count, mean, spread = carry
            value = jax.vmap(eqx.combine(params, skeleton))(rows)
            deviation = value - mean
            mean = mean + deviation / (count + 1)
            return (count + 1, mean, spread + deviation * (value - mean)), None

        first = jax.tree.map(lambda leaf: leaf[0], draws)
        like = jax.eval_shape(jax.vmap(eqx.combine(first, skeleton)), rows)
        zeros = jnp.zeros(like.shape, like.dtype)
        (count, mean, spread), _ = jax.lax.scan(add, (jnp.float32(0), zeros, zeros), draws)
        return Moments(mean, spread / count)

    return by_blocks(block, x)


def pad_to_bucket(x: np.ndarray) -> np.ndarray:
    """Add rows up to a round number: other numbers of rows then need no other compiled program."""
    blocks = round_size(-(-len(x) // BLOCK_ROWS))
    wanted = BLOCK_ROWS * blocks if len(x) > BLOCK_ROWS else 1 << (len(x) - 1).bit_length()
    return np.pad(x, [(0, wanted - len(x))] + [(0, 0)] * (x.ndim - 1))


def by_blocks(function: Any, x: Array) -> Any:
    """Apply a function of rows to blocks of at most BLOCK_ROWS rows, one after another."""
    num_rows = x.shape[0]
    if num_rows <= BLOCK_ROWS:
        return function(x)
    num_blocks = -(-num_rows // BLOCK_ROWS)
    padding = [(0, num_blocks * BLOCK_ROWS - num_rows)] + [(0, 0)] * (x.ndim - 1)
    blocks = jnp.pad(x, padding).reshape(num_blocks, BLOCK_ROWS, *x.shape[1:])
    results = jax.lax.map(function, blocks)
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[:num_rows], results)
