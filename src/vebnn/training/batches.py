"""Rows and mini-batches: a run has a list of the row numbers it may use.

Lists of row numbers have round lengths, and so have the data they point to: a fit on a few rows more
(active learning, cross-validation) then reuses the compiled programs of the fit before.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vebnn.core.blocks import is_wide
from vebnn.core.types import AnyDataset, Array, Key, SomeDataset
from vebnn.training.streaming import HostRows, on_host

NO_ROW = -1  # pads row lists; has weight zero
SMALL = 1_000  # rows; up to here lengths and step sizes do not depend on their number
LARGE = 2**16  # rows; with more, compiling is a small part of the time
MANY = 2**17  # rows; with more, an epoch of the default settings is a part of them
WIDE = 100  # shortest side of a grid for the Feistel network
FEISTEL_ROUNDS = 4  # two are enough with ideal hashes (Luby and Rackoff 1988)


def round_size(size: int) -> int:
    """Return the next round number of rows, at most a sixteenth more."""
    grain = 1 if size > LARGE else 1 << max(0, size.bit_length() - 5)
    return -(-size // grain) * grain


@jax.tree_util.register_static
@dataclass(frozen=True)
class AllRows:
    """The list of all rows, without the memory of a list."""

    count: int

    @property
    def shape(self) -> tuple[int]:
        """That of the list, which has a round length."""
        return (round_size(self.count),)

    def __getitem__(self, places: Array) -> Array:
        """Return the row numbers at some places of the list."""
        return jnp.where(places < self.count, places, NO_ROW)


def all_rows(size: int, num_runs: int = 1) -> Array:
    """Return row lists with all rows for every run."""
    return pad_rows([np.arange(size, dtype=np.int32)] * num_runs)


def all_rows_of(data: AnyDataset) -> Array | AllRows:
    """Return the list of all rows, without its memory where they are dealt as whole batches."""
    size = len(data.x)
    return AllRows(size) if _are_whole(data.x) else all_rows(size)[0]


def count_rows(rows: Array | AllRows) -> Array:
    """Return how many rows a list has, without ``NO_ROW``, inside a compiled function."""
    if isinstance(rows, AllRows):
        # A division by a constant would become a multiplication, which differs in the last bit.
        return jax.lax.optimization_barrier(jnp.int32(rows.count))
    return jnp.sum(rows != NO_ROW)


def pad_rows(lists: Sequence[np.ndarray]) -> Array:
    """Stack row lists of unequal length, one run each. A single one of round length is not copied."""
    length = round_size(max(len(rows) for rows in lists))
    if len(lists) == 1 and len(lists[0]) == length:
        return lists[0].astype(np.int32, copy=False)[None]
    padded = np.full((len(lists), length), NO_ROW, np.int32)
    for line, rows in zip(padded, lists, strict=True):
        line[: len(rows)] = rows
    return padded


def with_spare_rows(data: SomeDataset) -> SomeDataset:
    """Return data of a round number of rows; no list contains those added. Wide rows are not copied."""
    spare = round_size(len(data.x)) - len(data.x)
    if not spare or is_wide(data.x):
        return data
    # Copies of the last row, so that results stay finite.
    return jax.tree.map(
        lambda leaf: np.pad(leaf, [(0, spare)] + [(0, 0)] * (leaf.ndim - 1), mode="edge"), data
    )


def weight_of(data: SomeDataset, rows: Array) -> Array:
    """Return the weight of the given rows, zero of ``NO_ROW``."""
    present = (rows != NO_ROW).reshape(rows.shape + (1,) * (data.weight.ndim - 1))
    return data.weight[rows] * present


def take(data: SomeDataset, rows: Array) -> SomeDataset:
    """Return the given rows; ``NO_ROW`` gets weight zero."""
    whole = lambda node: isinstance(node, HostRows)  # noqa: E731
    taken = jax.tree.map(lambda leaf: leaf[rows], data, is_leaf=whole)
    return taken._replace(weight=weight_of(data, rows))


def batch_shape(num_rows: int, batch_size: int) -> tuple[int, int]:
    """Return (number of batches, rows per batch): as even as possible, none above ``batch_size``."""
    num_batches = math.ceil(num_rows / batch_size)
    return num_batches, math.ceil(num_rows / num_batches)


def epochs_of_steps(num_steps: int, num_rows: int, batch_size: int, fewest: int) -> int:
    """Return how many epochs make ``num_steps`` mini-batch steps, but at least ``fewest``."""
    num_batches, _ = batch_shape(round_size(num_rows), batch_size)
    return max(fewest, math.ceil(num_steps / num_batches))


def rows_of_epoch(num_rows: int) -> int:
    """Return how many rows an epoch of the default settings has.

    Beyond ``MANY`` rows it is a random part, √(LARGE · rows): networks need steps rather than passes,
    and early stopping looks more often.
    """
    return num_rows if num_rows <= MANY else round(math.sqrt(LARGE * num_rows))


def epoch_rows_of(num_rows: int) -> int | None:
    """Return the ``epoch_rows`` of the default settings: None up to ``MANY`` rows."""
    return rows_of_epoch(num_rows) if num_rows > MANY else None


def batches_of_epoch(num_rows: int, batch_size: int, epoch_rows: int | None) -> int:
    """Return the number of batches of an epoch of at most ``epoch_rows`` rows; None: of all."""
    num_batches, size = batch_shape(num_rows, batch_size)
    return num_batches if epoch_rows is None else min(num_batches, math.ceil(epoch_rows / size))


def spread_evenly(rows: Array, number: int) -> Array:
    """Return at most a number of the row numbers ``(runs, n)``, spread evenly over each list."""
    size = rows.shape[1]
    return rows if size <= number else rows[:, np.linspace(0, size - 1, number).round().astype(int)]


def some_rows(data: SomeDataset) -> SomeDataset:
    """Return at most ``MANY`` rows, spread evenly, enough for a mean; all if they are wide."""
    size = len(data.x)
    if size <= MANY or is_wide(data.x):
        return data
    return on_host(data, np.linspace(0, size - 1, MANY).astype(int))


def scale_of_rows(num_rows: int) -> float:
    """Return √(rows / SMALL), at least 1: the factor on budgets of larger data sets."""
    return math.sqrt(max(1, num_rows / SMALL))


def random_order(key: Key, num_batches: int, size: int) -> Array:
    """Return a random permutation of 0 … num_batches · size − 1.

    Up to 2¹⁶ entries, random high bits and the index in the low bits are sorted as ONE array of
    integers, faster on a CPU than the two-array sort of ``jax.random.permutation``. Where the at least
    16 random bits tie, the order is that of the indices. More entries go through a Feistel network, in
    time proportional to their number (``python -m benchmarks.speed --only ablation``).
    """
    total = num_batches * size
    if total > LARGE:
        square = min(num_batches, size) >= WIDE
        return _feistel(key, num_batches, size) if square else jax.random.permutation(key, total)
    low = jnp.uint32(2 ** (total - 1).bit_length() - 1)
    tagged = (jax.random.bits(key, (total,), jnp.uint32) & ~low) | jnp.arange(total, dtype=jnp.uint32)
    return (jnp.sort(tagged) & low).astype(jnp.int32)


def _feistel(key: Key, rows: int, columns: int) -> Array:
    """Return a pseudo-random permutation of a grid: a Feistel network on (row, column).

    In turn, row numbers are shifted by a hash of the column, and columns by a hash of the row, modulo
    the size of the grid. Every shift is invertible, so the result is a permutation.
    """
    number = jnp.arange(rows * columns, dtype=jnp.uint32)
    row, column = number // columns, number % columns
    words = jax.random.bits(key, (FEISTEL_ROUNDS, 2), jnp.uint32)
    for turn in range(FEISTEL_ROUNDS):
        row = _shifted(row, _hash(column, words[turn, 0]), rows)
        column = _shifted(column, _hash(row, words[turn, 1]), columns)
    return (row * columns + column).astype(jnp.int32)


def _shifted(place: Array, hashed: Array, size: int) -> Array:
    """Shift places by a hash, modulo ``size``."""
    # Single precision holds 24 bits, enough for any side of the grid; a division would be slow.
    step = (hashed >> 8).astype(jnp.float32) * np.float32(size * 2.0**-24)
    shifted = place + step.astype(jnp.uint32)
    return jnp.where(shifted >= size, shifted - jnp.uint32(size), shifted)


def _hash(value: Array, word: Array) -> Array:
    """Mix 32 bits thoroughly (the finaliser of MurmurHash3)."""
    mixed = value * jnp.uint32(0x9E3779B1) ^ word
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        mixed = (mixed ^ (mixed >> shift)) * jnp.uint32(factor)
    return mixed ^ (mixed >> 16)


def shuffled_batches(
    key: Key, data: SomeDataset, rows: Any, batch_size: int, epoch_rows: int | None = None
) -> SomeDataset | Array:
    """Deal the rows of an epoch into mini-batches, to be scanned and passed to :func:`fetch`.

    Narrow rows are gathered once, leaves of shape ``(batches, batch rows, ...)``, so that the steps of
    the epoch read consecutive memory. Of wide rows, and of those with the host, only the numbers are
    dealt. If the latter are in random order, the numbers of batches are, see :func:`rows_of_batch`: a
    shuffled list of all rows would take memory on every device.
    """
    num_batches, size = batch_shape(rows.shape[0], batch_size)
    most = batches_of_epoch(rows.shape[0], batch_size, epoch_rows)
    if _are_whole(data.x):
        return jax.random.permutation(key, num_batches)[:most]
    fill = jnp.full(num_batches * size - rows.shape[0], NO_ROW, rows.dtype)
    dealt = jnp.concatenate([rows, fill])
    if num_batches > 1:
        dealt = dealt[random_order(key, num_batches, size)]
    dealt = dealt[: most * size]
    if _is_fetched(data.x):
        return dealt.reshape(most, size)
    epoch = take(data, dealt)
    return jax.tree.map(lambda leaf: leaf.reshape(most, size, *leaf.shape[1:]), epoch)


def rows_of_batch(data: SomeDataset, rows: Any, batch: Any, batch_size: int) -> SomeDataset | Array:
    """Return the row numbers of a batch that was dealt by its number; any other batch as it is."""
    if not _are_whole(data.x):
        return batch
    _, size = batch_shape(rows.shape[0], batch_size)
    places = batch * size + jnp.arange(size, dtype=jnp.int32)
    last = rows.shape[0] - 1
    return jnp.where(places <= last, rows[jnp.minimum(places, last)], NO_ROW)


def fetch(data: SomeDataset, batch: SomeDataset | Array) -> SomeDataset:
    """Return the rows of one of the :func:`shuffled_batches`."""
    return take(data, batch) if _is_fetched(data.x) else batch


def _are_whole(x: Array) -> bool:
    """Return whether neighbours share a batch, so that batches are dealt as wholes."""
    return isinstance(x, HostRows) and x.shuffled


def _is_fetched(x: Array) -> bool:
    """Return whether every step gathers its rows itself."""
    return is_wide(x) or isinstance(x, HostRows)
