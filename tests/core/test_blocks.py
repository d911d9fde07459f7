import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vebnn.core.blocks import BLOCK_NUMBERS, BLOCK_ROWS, block_rows, by_blocks, is_wide


@pytest.mark.parametrize(
    ("shape", "wide", "rows"),
    [
        ((5, 10), False, BLOCK_ROWS),
        ((5, 100, 3), False, BLOCK_ROWS),  # a sequence of the plasticity data
        ((5, 28, 28, 1), True, BLOCK_NUMBERS // 1024),  # the next power of two above 784 numbers
        ((5, 64, 64, 3), True, 16),
        ((5, 2048, 2048, 3), True, 1),
    ],
)
def test_blocks_of_wide_rows_are_small(shape, wide, rows):
    x = np.broadcast_to(np.uint8(0), shape)
    assert is_wide(x) is wide
    assert block_rows(x) == rows


def test_blocks_change_nothing():
    x = np.random.default_rng(0).integers(0, 255, (67, 32, 32, 1)).astype(np.uint8)
    assert block_rows(x) > 67  # one block
    wide = np.tile(x, (1, 2, 2, 3))
    assert block_rows(wide) < 67  # several, the last one padded

    def sums(rows):
        return jnp.sum(rows.astype(jnp.float32), axis=(1, 2, 3))

    found = jax.jit(lambda rows: by_blocks(sums, rows))(wide)
    np.testing.assert_array_equal(found, wide.astype(float).sum((1, 2, 3)))
