"""The correlation of noise, from errors whose covariance is known."""

import jax
import numpy as np
import pytest

from tests.support.arrays import networks
from vebnn import MLP
from vebnn.core.types import Dataset
from vebnn.inference import Posterior
from vebnn.strategies.cooperative.correlation import LARGEST, correlation_of, posterior_products

TRUTH = np.array([[1.0, 0.8, -0.3], [0.8, 1.0, 0.1], [-0.3, 0.1, 1.0]])


def test_the_correlation_of_simulated_noise_is_found_whatever_its_std() -> None:
    rng = np.random.default_rng(0)
    std = np.exp(rng.standard_normal((20_000, 3)))
    error = std * rng.multivariate_normal(np.zeros(3), TRUTH, 20_000)
    products = error[:, :, None] * error[:, None, :]
    found = correlation_of(products, 4 * std**2, np.ones_like(std))  # a common factor does not matter
    np.testing.assert_allclose(found, TRUTH, atol=0.02)


def test_rows_without_weight_do_not_count() -> None:
    products = np.array([[[1.0, 0.5], [0.5, 1.0]], [[9.0, -9.0], [-9.0, 9.0]]])
    found = correlation_of(products, np.ones((2, 2)), np.array([[1.0, 1.0], [0.0, 0.0]]))
    assert found[0, 1] == pytest.approx(LARGEST * 0.5)


def test_the_maximum_of_the_likelihood_by_hand() -> None:
    """Two steps of a sequence count as rows; twice the weight is twice the row."""
    products = np.array([[[[4.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [0.0, 4.0]]]])
    found = correlation_of(products, np.ones((1, 2, 2)), np.array([[[2.0, 2.0], [1.0, 1.0]]]))
    assert found[0, 1] == pytest.approx(LARGEST * 2 / np.sqrt(9 * 6))


def test_outputs_that_are_copies_have_a_covariance_with_an_inverse() -> None:
    found = correlation_of(np.ones((5, 2, 2)), np.ones((5, 2)), np.ones((5, 2)))
    np.linalg.cholesky(found)


def test_products_are_averages_over_draws() -> None:
    draws = networks(MLP((3,)), 1, 2, count=6)
    chains = jax.tree.map(lambda leaf: np.asarray(leaf).reshape(2, 3, *leaf.shape[1:]), draws)
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(4, 1)).astype(np.float32), rng.normal(size=(4, 2)).astype(np.float32)
    data = Dataset(x, y, np.ones_like(y), np.zeros_like(y))
    found = posterior_products(Posterior(chains, np.zeros((2, 3)), True, {}), data)
    expected = np.zeros((4, 2, 2))
    for draw in range(6):
        network = jax.tree.map(lambda leaf, draw=draw: leaf[draw], draws)
        for row in range(4):
            error = y[row] - np.asarray(network(x[row]))
            expected[row] += np.outer(error, error) / 6
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
