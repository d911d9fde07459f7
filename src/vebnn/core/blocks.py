"""Blocks of rows: they bound the memory of whatever is computed for many rows.

Rows are wide if one has many numbers, as an image does. Wide rows are never copied as a whole: they
are gathered batch by batch in training, and evaluated block by block.
"""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from vebnn.core.types import Array

BLOCK_ROWS = 1_024  # the most rows in a block
BLOCK_NUMBERS = 2**18  # the most numbers in its inputs: 64 images of 64 × 64
WIDE_ROW = 768  # numbers of one row; from here on, rows are wide


def row_numbers(x: Array) -> int:
    """Return how many numbers one row of ``x`` has."""
    return math.prod(x.shape[1:])


def is_wide(x: Array) -> bool:
    """Return whether the rows of ``x`` are too wide to be copied as a whole."""
    return row_numbers(x) >= WIDE_ROW


def block_rows(x: Array) -> int:
    """Return how many rows of ``x`` make a block, a power of two."""
    fit = BLOCK_NUMBERS // max(1, row_numbers(x))
    return BLOCK_ROWS if not is_wide(x) else min(BLOCK_ROWS, 1 << max(0, fit.bit_length() - 1))


def by_blocks(function: Callable[[Array], Any], x: Array) -> Any:
    """Apply a function of rows to one block after another, inside a compiled function."""
    num_rows = x.shape[0]
    if not isinstance(num_rows, int):  # a program for any number of rows
        return function(x)
    size = block_rows(x)
    if num_rows <= size:
        return function(x)
    num_blocks = -(-num_rows // size)
    padding = [(0, num_blocks * size - num_rows)] + [(0, 0)] * (x.ndim - 1)
    blocks = jnp.pad(x, padding).reshape(num_blocks, size, *x.shape[1:])
    results = jax.lax.map(function, blocks)
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[:num_rows], results)
