"""Squared residuals, the part of them that is not noise, and their scale."""

import jax
import numpy as np
import pytest

from tests.support.arrays import dataset, networks, residuals
from vebnn import MLP
from vebnn.inference import Posterior
from vebnn.strategies.cooperative.residuals import (
    SMALLEST_SCALE,
    cross_fit_residuals,
    in_sample_residuals,
    in_units,
    posterior_residuals,
    unit_of,
)
from vebnn.training import split_rows


def constants(values):
    """Return stacked networks that output a constant each."""
    stacked = networks(MLP(()), 1, 1, count=len(values))
    stacked.weights.weights[0][:] = 0
    stacked.weights.biases[0][:] = np.asarray(values)[:, None]
    return stacked


@pytest.fixture
def rows():
    target = np.array([[0.5], [-1.0], [2.0], [4.0]])
    return dataset(np.zeros((4, 1)), target, weight=[[1], [2], [0], [1]], known_variance=0.3)


def test_in_sample_residuals_are_those_of_the_first_network(rows):
    found = in_sample_residuals(constants([1.0, 7.0]), rows)
    np.testing.assert_allclose(found.squared, (1 - rows.target) ** 2, rtol=1e-6)
    np.testing.assert_array_equal(found.weight, rows.weight)
    np.testing.assert_array_equal(found.offset, rows.known_variance)


def test_in_sample_residuals_of_a_posterior_are_those_of_its_mean(rows):
    draws = jax.tree.map(lambda leaf: leaf.reshape(2, 2, *leaf.shape[1:]), constants([0, 1, 2, 5]))
    found = in_sample_residuals(Posterior(draws, np.zeros((2, 1)), True, {}), rows)
    np.testing.assert_allclose(found.squared, (2 - rows.target) ** 2, rtol=1e-5)


def test_residuals_of_a_posterior_are_the_mean_square_over_draws(rows):
    draws = jax.tree.map(lambda leaf: leaf.reshape(2, 2, *leaf.shape[1:]), constants([0, 1, 2, 5]))
    found = posterior_residuals(Posterior(draws, np.zeros((2, 1)), True, {}), rows)
    each = [(value - rows.target) ** 2 for value in (0, 1, 2, 5)]
    np.testing.assert_allclose(found.squared, np.mean(each, axis=0), rtol=1e-5)
    np.testing.assert_array_equal(found.offset, rows.known_variance)


def test_draws_that_count_targets_less_lack_less(rows):
    draws = jax.tree.map(lambda leaf: leaf.reshape(2, 2, *leaf.shape[1:]), constants([0, 1, 2, 5]))
    found = posterior_residuals(Posterior(draws, np.zeros((2, 1)), True, {}), rows, share=0.25)
    variance = np.var([0, 1, 2, 5])
    np.testing.assert_allclose(found.squared, (2 - rows.target) ** 2 + variance / 4, rtol=1e-5)


def test_residuals_of_a_linear_posterior_have_the_mean_of_the_noise(rng):
    # Least squares with a flat prior: E[(y − ŷ)²] = σ²(1 − h) and the posterior variance is σ²h.
    sigma, x = 0.7, rng.normal(size=(12, 3))
    hat = x @ np.linalg.inv(x.T @ x) @ x.T
    factor = np.linalg.cholesky(np.linalg.inv(x.T @ x))
    found = []
    for _ in range(400):
        target = x @ [1, -2, 0.5] + sigma * rng.normal(size=12)
        centre = np.linalg.lstsq(x, target, rcond=None)[0]
        weights = centre + sigma * rng.normal(size=(200, 3)) @ factor.T
        draws = networks(MLP(()), 3, 1, count=200)
        draws.weights.weights[0][:] = weights[:, None]
        draws.weights.biases[0][:] = 0
        stacked = jax.tree.map(lambda leaf: leaf[None], draws)
        posterior = Posterior(stacked, np.zeros((1, 1)), True, {})
        found.append(posterior_residuals(posterior, dataset(x, target[:, None])).squared)
    assert np.diag(hat).max() > 0.3  # without the variance of the draws this would fail
    np.testing.assert_allclose(np.mean(found, axis=0), sigma**2, rtol=0.25)
    assert np.mean(found) == pytest.approx(sigma**2, rel=0.05)


def test_cross_fit_residuals_are_of_networks_that_did_not_see_the_row(rows):
    split = split_rows(np.random.default_rng(0), 4, 2, 0.3)
    found = cross_fit_residuals(constants([1.0, 3.0]), split, rows)
    own = np.array([1.0, 3.0])[split.fold][:, None]
    np.testing.assert_allclose(found.squared, (own - rows.target) ** 2, rtol=1e-6)
    # The variance between the fold networks, with one degree of freedom less, is no noise.
    np.testing.assert_allclose(found.offset, 0.3 + 2.0, rtol=1e-6)


def test_residuals_in_their_unit_have_mean_one_per_output(rng):
    squared = rng.uniform(0.5, 1.5, (30, 4, 2)) * [1e-4, 50.0]
    weight = rng.choice([0.0, 1.0, 2.0], squared.shape)
    data = residuals(np.zeros((30, 4, 1)), squared, weight, 3.0)
    unit = unit_of(data, rescaled=True)
    found = in_units(data, unit)
    expected = [np.average(squared[..., one], weights=weight[..., one]) for one in range(2)]
    np.testing.assert_allclose(unit, expected, rtol=1e-5)
    means = [np.average(found.squared[..., one], weights=weight[..., one]) for one in range(2)]
    np.testing.assert_allclose(means, 1, rtol=1e-5)
    np.testing.assert_allclose(found.offset, 3 / unit * np.ones_like(squared), rtol=1e-5)
    np.testing.assert_array_equal(found.weight, weight)


def test_the_unit_is_one_if_rescaling_is_not_wanted(rng):
    data = residuals(np.zeros((9, 1)), rng.uniform(1, 2, (9, 2)), offset=0.1)
    np.testing.assert_array_equal(unit_of(data, rescaled=False), np.ones(2))


def test_residuals_of_zero_have_a_unit():
    data = residuals(np.zeros((5, 1)), np.zeros((5, 1)))
    np.testing.assert_allclose(unit_of(data, rescaled=True), SMALLEST_SCALE)
