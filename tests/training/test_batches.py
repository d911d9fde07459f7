import jax
import numpy as np
import pytest
from scipy import stats

from vebnn.core.types import Dataset
from vebnn.training.batches import (
    LARGE,
    MANY,
    NO_ROW,
    all_rows,
    batch_shape,
    batches_of_epoch,
    pad_rows,
    random_order,
    round_size,
    rows_of_epoch,
    shuffled_batches,
    spread_evenly,
    take,
    with_spare_rows,
)

deal = jax.jit(shuffled_batches, static_argnums=3)


def numbered(size: int) -> Dataset:
    """Rows whose input is their own number."""
    column = np.arange(size, dtype=np.float32)[:, None]
    return Dataset(column, 10 * column, np.ones_like(column), np.ones_like(column))


@pytest.mark.parametrize(
    ("size", "batch_size"), [(10, 3), (10, 10), (10, 100), (11, 4), (1, 5), (257, 256)]
)
def test_every_row_exactly_once_per_epoch(size: int, batch_size: int, key: jax.Array) -> None:
    batches = deal(key, numbered(size), all_rows(size)[0], batch_size)
    num_batches, rows = batch_shape(round_size(size), batch_size)
    assert rows <= batch_size
    assert batches.x.shape == (num_batches, rows, 1)
    counted = np.asarray(batches.x)[np.asarray(batches.weight) > 0]
    np.testing.assert_array_equal(np.sort(counted), np.arange(size))
    np.testing.assert_array_equal(batches.target, 10 * batches.x)
    assert np.sum(batches.weight) == size


def test_round_sizes_are_few_and_close() -> None:
    sizes = np.arange(1, 5_000)
    rounded = np.array([round_size(int(size)) for size in sizes])
    assert (rounded >= sizes).all()
    assert (rounded - sizes <= sizes / 16).all()
    np.testing.assert_array_equal([round_size(int(size)) for size in rounded], rounded)
    assert len(set(rounded[sizes >= 256])) < 80
    # Large data sets are left alone: compiling is a small part of their training.
    assert round_size(100_001) == 100_001


def test_spare_rows_change_nothing_that_lists_point_to(key: jax.Array) -> None:
    data = with_spare_rows(numbered(61))
    assert {len(leaf) for leaf in data} == {62}
    batches = deal(key, data, all_rows(61)[0], 20)
    counted = np.asarray(batches.x)[np.asarray(batches.weight) > 0]
    np.testing.assert_array_equal(np.sort(counted), np.arange(61))


def test_batches_are_even() -> None:
    # 257 rows in batches of 256 are two of 129, not 256 and one.
    assert batch_shape(257, 256) == (2, 129)
    assert batch_shape(256, 256) == (1, 256)
    assert batch_shape(1000, 300) == (4, 250)


def test_padding_counts_nowhere(key: jax.Array) -> None:
    rows = pad_rows([np.array([3, 1, 4]), np.array([1, 5, 9, 2, 6])])
    assert rows.shape == (2, 5)
    np.testing.assert_array_equal(rows[0], [3, 1, 4, NO_ROW, NO_ROW])
    batches = deal(key, numbered(10), rows[0], 2)
    counted = np.asarray(batches.x)[np.asarray(batches.weight) > 0]
    np.testing.assert_array_equal(np.sort(counted), [1, 3, 4])


def test_take_keeps_the_weights_of_real_rows() -> None:
    data = numbered(5)._replace(weight=np.full((5, 1), 2, np.float32))
    taken = take(data, np.array([4, NO_ROW, 0]))
    np.testing.assert_array_equal(taken.weight[:, 0], [2, 0, 2])
    np.testing.assert_array_equal(np.asarray(taken.x)[[0, 2], 0], [4, 0])


def test_take_sequences() -> None:
    # Rows × time × features: the padding mask must line up with the first axis.
    values = np.ones((3, 4, 2), np.float32)
    taken = take(Dataset(values, values, values, values), np.array([NO_ROW, 1]))
    np.testing.assert_array_equal(taken.weight[0], 0)
    np.testing.assert_array_equal(taken.weight[1], 1)


GRIDS = [(1, 1), (2, 1), (1, 3), (4, 25), (256, 256), (257, 256), (1, 100_000), (391, 256), (70_000, 3)]


@pytest.mark.parametrize(("num_batches", "size"), GRIDS)
def test_random_order_is_a_permutation(num_batches: int, size: int, key: jax.Array) -> None:
    total = num_batches * size
    order = np.asarray(jax.jit(random_order, static_argnums=(1, 2))(key, num_batches, size))
    np.testing.assert_array_equal(np.sort(order), np.arange(total))
    if total >= 100:
        # In a random order, place and number have a correlation of about ±1/√total.
        assert abs(np.corrcoef(order, np.arange(total))[0, 1]) < 4 / np.sqrt(total)


def test_many_rows_are_dealt_as_if_at_random(key: jax.Array) -> None:
    num_batches, size = 400, 250
    order = jax.jit(random_order, static_argnums=(1, 2))
    first, second = (np.asarray(order(one, num_batches, size)) for one in jax.random.split(key))
    rows = np.arange(num_batches * size)
    # A batch is a random sample: it has rows of as many of 400 equal parts as expected by chance.
    for dealt in (first, second, second[np.argsort(first)]):
        counts = np.zeros((num_batches, num_batches))
        np.add.at(counts, (rows // size, dealt // size), 1)
        assert stats.chisquare(counts.ravel()).pvalue > 1e-3
        assert stats.chisquare(np.bincount(dealt[::7] % 100)).pvalue > 1e-3
    # Neighbours do not stay together: they meet in one batch as often as any two rows.
    batch = np.argsort(first) // size
    together = np.mean(batch[:-1] == batch[1:])
    assert abs(together - 1 / num_batches) < 4 / np.sqrt(num_batches * len(rows))


def test_random_order_is_uniform() -> None:
    keys = jax.random.split(jax.random.key(1), 24_000)
    orders = np.asarray(jax.jit(jax.vmap(lambda key: random_order(key, 1, 4)))(keys))
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 24
    assert stats.chisquare(counts).pvalue > 1e-3


def test_random_order_puts_every_row_everywhere() -> None:
    size = 50
    keys = jax.random.split(jax.random.key(2), 20_000)
    orders = np.asarray(jax.jit(jax.vmap(lambda key: random_order(key, 1, size)))(keys))
    for place in (0, 24, 49):
        counts = np.bincount(orders[:, place], minlength=size)
        assert stats.chisquare(counts).pvalue > 1e-3


def test_epochs_differ() -> None:
    one, other = (deal(jax.random.key(seed), numbered(50), all_rows(50)[0], 10) for seed in (0, 1))
    assert not np.array_equal(one.x, other.x)


def test_an_epoch_can_be_a_random_part_of_the_rows(key: jax.Array) -> None:
    part = jax.jit(shuffled_batches, static_argnums=(3, 4))
    seen = []
    for one in jax.random.split(key, 20):
        batches = part(one, numbered(100), all_rows(100)[0], 8, 30)
        # As many batches of the usual size as hold 30 rows.
        assert batches.x.shape == (4, 8, 1)
        rows = np.asarray(batches.x)[np.asarray(batches.weight) > 0]
        assert len(set(rows)) == len(rows) >= 28
        seen.append(rows)
    assert set(np.concatenate(seen)) == set(range(100))
    assert batches_of_epoch(100, 8, None) == batches_of_epoch(100, 8, 1_000) == 13


def test_epochs_of_large_tables_grow_with_the_root_of_the_rows() -> None:
    assert rows_of_epoch(MANY) == MANY
    assert rows_of_epoch(16 * LARGE) == 4 * LARGE


def test_rows_are_spread_over_the_whole_list() -> None:
    rows = np.arange(200).reshape(2, 100)
    np.testing.assert_array_equal(spread_evenly(rows, 3), [[0, 50, 99], [100, 150, 199]])
    assert spread_evenly(rows, 100) is rows
