"""Training to the best epoch on validation rows, and again on all rows."""

import jax
import numpy as np
import pytest

from tests.support.linear import flatten
from vebnn.training import SILENT, Training, all_rows, pad_rows, train, train_to_best_epoch

SETTINGS = Training(num_epochs=60, learning_rate=0.02, batch_size=16)


@pytest.fixture
def fleet(linear) -> tuple:
    starts = jax.tree.map(lambda leaf: leaf[:2], linear.starts)
    return linear.objective, starts, linear.data


@pytest.fixture
def rows() -> dict:
    halves = [np.arange(0, 30), np.arange(20, 50)]
    return {"train_rows": pad_rows(halves), "watch_rows": pad_rows([np.arange(50, 61)] * 2)}


def test_without_final_rows_it_is_the_search(fleet, rows, key: jax.Array) -> None:
    searched = train(key, *fleet, rows["train_rows"], SETTINGS, watch_rows=rows["watch_rows"])
    other = jax.random.key(9)
    found, epochs = train_to_best_epoch(
        key, other, *fleet, SETTINGS, **rows, final_rows=None, stage=SILENT
    )
    np.testing.assert_array_equal(epochs, searched.best_epoch)
    np.testing.assert_array_equal(flatten(found.params), flatten(searched.params))


def test_the_second_training_has_the_best_number_of_epochs(fleet, rows, key: jax.Array) -> None:
    other, final = jax.random.key(9), all_rows(61, 2)
    found, epochs = train_to_best_epoch(
        key, other, *fleet, SETTINGS, **rows, final_rows=final, stage=SILENT
    )
    assert (epochs < 60).any()
    np.testing.assert_array_equal(found.num_epochs, epochs)
    expected = train(other, *fleet, final, SETTINGS, num_epochs=epochs)
    np.testing.assert_array_equal(flatten(found.params), flatten(expected.params))
