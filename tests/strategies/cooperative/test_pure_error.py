"""The noise that repeated measurements show."""

import numpy as np

from tests.support.arrays import dataset, residuals
from vebnn.strategies.cooperative.pure_error import with_pure_error

X = np.array([[0.0], [1.0], [0.0], [2.0], [0.0], [1.0]])
Y = np.array([[1.0], [5.0], [3.0], [7.0], [8.0], [5.0]])


def found(x=X, y=Y, weight=1.0, known=0.2):
    before = residuals(x, np.full_like(y, 9.0), weight, offset=0.5)
    return with_pure_error(before, dataset(x, y, weight, known_variance=known))


def test_repeats_have_the_residuals_of_their_average():
    after = found()
    # Three repeats of 0 with average 4; each counts as two thirds.
    np.testing.assert_allclose(after.squared[[0, 2, 4], 0], np.array([9, 1, 16]) * 3 / 2, rtol=1e-6)
    np.testing.assert_allclose(after.weight[[0, 2, 4], 0], 2 / 3, rtol=1e-6)
    np.testing.assert_allclose(after.offset[[0, 2, 4], 0], 0.2, rtol=1e-6)


def test_single_rows_and_copies_keep_their_residuals():
    after = found()
    np.testing.assert_array_equal(after.squared[[1, 3, 5], 0], 9)
    np.testing.assert_array_equal(after.weight[[1, 3, 5], 0], 1)
    np.testing.assert_array_equal(after.offset[[1, 3, 5], 0], 0.5)


def test_nothing_changes_without_repeats():
    before = residuals(X[:2], Y[:2])
    assert with_pure_error(before, dataset(X[:2], Y[:2])) is before


def test_a_row_of_weight_two_is_a_row_twice():
    x, y, weight = X[[0, 2]], Y[[0, 2]], np.array([[2.0], [1.0]])
    once = found(x, y, weight)
    twice = found(X[[0, 0, 2]], Y[[0, 0, 2]])
    np.testing.assert_allclose(once.squared[:, 0], twice.squared[[0, 2], 0], rtol=1e-6)
    np.testing.assert_allclose((once.weight * once.squared).sum(), (twice.weight * twice.squared).sum())


def test_the_mean_over_many_repeats_is_the_noise(rng):
    x = np.repeat(np.arange(3_000.0), 3)[:, None]
    y = 50 * np.sin(x) + 0.7 * rng.normal(size=x.shape)
    after = found(x, y)
    mean = np.average(after.squared, weights=after.weight)
    np.testing.assert_allclose(mean, 0.49, rtol=0.04)


def test_steps_of_sequences_are_compared_one_by_one(rng):
    x = np.broadcast_to(rng.normal(size=(1, 5, 2)), (4, 5, 2))
    y = rng.normal(size=(4, 5, 1))
    after = found(x, y)
    np.testing.assert_allclose(after.squared, (y - y.mean(0)) ** 2 * 4 / 3, rtol=1e-4)
