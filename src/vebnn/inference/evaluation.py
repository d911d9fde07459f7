"""Outputs of networks, one or many draws, in compiled blocks of rows."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vebnn.core.blocks import block_rows, by_blocks, is_wide
from vebnn.core.types import Array, Dataset, Module, Params
from vebnn.training.batches import LARGE, round_size
from vebnn.training.streaming import HostRows

PIECE_BLOCKS = 8  # blocks of wide rows in one call of a compiled program
PIECE_BLOCKS_OF_NARROW = 64  # the same of large tables
MOST_PROBES = 512  # training rows at which draws are evaluated for diagnostics; enough for a mean


class Shared(eqx.Module):
    """A part of stacked networks that all draws have in common: its leaves have no axis of draws."""

    value: Any


class Moments(NamedTuple):
    """Mean and variance over draws, each ``(rows, ..., outputs)``."""

    mean: Array
    variance: Array


def probe_rows(data: Dataset) -> np.ndarray:
    """Return the numbers of some rows of positive weight, spread evenly over the data."""
    counting = np.flatnonzero(data.weight.reshape(len(data.x), -1).any(1))
    return counting[np.unique(np.linspace(0, len(counting) - 1, MOST_PROBES).round().astype(int))]


def mask_padding(outputs: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return outputs ``(..., *shape of weight)`` with NaN where the weight is zero."""
    return np.where(weight > 0, outputs, np.float32(np.nan))


def ravel_stacked(networks: Params) -> np.ndarray:
    """Return the flat vectors of stacked networks, ``(networks, parameters)``; see `ravel_pytree`."""
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(networks)]
    return np.concatenate([leaf.reshape(len(leaf), -1) for leaf in leaves], axis=1)


def unravel_draws(like: Params, draws: np.ndarray) -> Params:
    """Turn flat vectors ``(chains, draws, parameters)`` into parameters shaped like ``like``."""
    leaves, structure = jax.tree.flatten(like)
    ends = np.cumsum([leaf.size for leaf in leaves])
    parts = np.split(draws, ends[:-1], axis=-1)
    shaped = [
        part.reshape(*draws.shape[:-1], *leaf.shape).astype(leaf.dtype)
        for part, leaf in zip(parts, leaves, strict=True)
    ]
    return jax.tree.unflatten(structure, shaped)


def pool_chains(draws: Any) -> Any:
    """Turn leaves of shape (chains, draws, ...) into (chains · draws, ...)."""

    def pool(leaf: Any) -> Any:
        return leaf if _is_shared(leaf) else leaf.reshape(-1, *leaf.shape[2:])  # NumPy: a view

    return jax.tree.map(pool, draws, is_leaf=_is_shared)


def evaluate(network: Module, x: Array) -> np.ndarray:
    """Return the outputs of ONE network for all rows of ``x``."""
    return in_pieces(lambda rows: _evaluate(network, rows), x)


@eqx.filter_jit
def _evaluate(network: Module, x: Array) -> Array:
    return by_blocks(jax.vmap(network), x)


def evaluate_draws(draws: Any, x: Array) -> np.ndarray:
    """Return the outputs of every draw, ``(draws, rows, ..., outputs)``; chains are pooled."""
    return in_pieces(lambda rows: _evaluate_draws(draws, rows), x, axis=1)


@eqx.filter_jit
def _evaluate_draws(draws: Any, x: Array) -> Array:
    return map_draws(lambda network: by_blocks(jax.vmap(network), x), draws)


def map_draws(function: Callable[[Module], Any], draws: Any) -> Any:
    """Apply a function to one draw after another; inside a compiled function."""
    each, network = _each(draws)
    return jax.lax.map(lambda one: function(network(one)), each)


def moments(draws: Any, x: Array) -> Moments:
    """Return mean and variance over draws without ever holding draws × rows.

    Welford's recurrence: exact in one pass, and stable in single precision. The variance divides by
    the number of draws, so that it is that of the mixture the draws stand for.
    """
    return in_pieces(lambda rows: _moments(draws, rows), x)


@eqx.filter_jit
def _moments(draws: Any, x: Array) -> Moments:
    each, network = _each(draws)

    def block(rows: Array) -> Moments:
        def add(carry: tuple[Array, Array, Array], one: Any) -> tuple:
            count, mean, spread = carry
            value = jax.vmap(network(one))(rows)
            deviation = value - mean
            mean = mean + deviation / (count + 1)
            return (count + 1, mean, spread + deviation * (value - mean)), None

        first = network(jax.tree.map(lambda leaf: leaf[0], each))
        like = jax.eval_shape(jax.vmap(first), rows)
        zeros = jnp.zeros(like.shape, like.dtype)
        (count, mean, spread), _ = jax.lax.scan(add, (jnp.float32(0), zeros, zeros), each)
        return Moments(mean, spread / count)

    return by_blocks(block, x)


def in_pieces(function: Callable[[Array], Any], x: np.ndarray, *, axis: int = 0) -> Any:
    """Return a compiled function of rows for all of them, as NumPy arrays.

    Wide rows, large tables and rows that stay with the host go piece by piece, one for each device at a
    time: all of them work, and mapped files are never read as a whole.

    Args:
      function: of rows; its results have the rows as one of their axes.
      x: the rows.
      axis: where the results have the rows.
    """
    if isinstance(x, jax.core.Tracer):  # a part of a larger program
        return function(x)
    mapped = isinstance(x, HostRows)
    read: Any = x.on_host if isinstance(x, HostRows) else x.__getitem__
    if len(x) <= (block_rows(x) if is_wide(x) or mapped else LARGE):
        whole = read(slice(None)) if mapped else x
        return _cut(jax.device_get(function(pad_to_bucket(whole))), len(x), axis)
    blocks = PIECE_BLOCKS if is_wide(x) else PIECE_BLOCKS_OF_NARROW
    size, devices, found = blocks * block_rows(x), jax.local_devices(), []
    for start in range(0, len(x), size * len(devices)):
        places = [slice(start + n * size, start + (n + 1) * size) for n in range(len(devices))]
        pieces = [read(place) for place in places]
        pieces = [piece for piece in pieces if len(piece)]
        # Calls return at once, so that the devices work side by side.
        waiting = [
            function(jax.device_put(pad_to_bucket(piece), device))
            for piece, device in zip(pieces, devices, strict=False)
        ]
        found += [
            _cut(jax.device_get(one), len(piece), axis)
            for one, piece in zip(waiting, pieces, strict=True)
        ]
    return jax.tree.map(lambda *parts: np.concatenate(parts, axis=axis), *found)


def split_outputs(outputs: Array, number: int) -> list[Array]:
    """Return equal parts of the last axis."""
    size = outputs.shape[-1] // number
    return [outputs[..., at * size : (at + 1) * size] for at in range(number)]


def _cut(results: Any, num_rows: int, axis: int) -> Any:
    """Return results without those of the rows that padding added."""
    return jax.tree.map(lambda leaf: leaf[(slice(None),) * axis + (slice(num_rows),)], results)


def pad_to_bucket(x: np.ndarray) -> np.ndarray:
    """Add rows up to a round number, so that few compiled programs serve all numbers of rows."""
    size = block_rows(x)
    blocks = round_size(-(-len(x) // size))
    wanted = size * blocks if len(x) > size else 1 << (len(x) - 1).bit_length()
    return np.pad(x, [(0, wanted - len(x))] + [(0, 0)] * (x.ndim - 1))


def _is_shared(node: Any) -> bool:
    return isinstance(node, Shared)


def _each(draws: Any) -> tuple[list, Callable[[list], Module]]:
    """Return what differs between draws, and the function that makes one network of it."""
    parts, structure = jax.tree.flatten(draws, is_leaf=_is_shared)

    def network(one: list) -> Module:
        whole = [
            part.value if _is_shared(part) else mine for part, mine in zip(parts, one, strict=True)
        ]
        return jax.tree.unflatten(structure, whole)

    return [None if _is_shared(part) else part for part in parts], network
