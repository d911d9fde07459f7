"""The noise that draws of the variance network stand for."""

import jax
import numpy as np
import pytest

from tests.support.arrays import networks
from vebnn import MLP
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS
from vebnn.strategies.cooperative.noise import Noise

SCALE = np.array([1e-3, 20.0])


@pytest.fixture
def x(rng):
    return rng.normal(size=(6, 3)).astype(np.float32)


def by_hand(draws, x):
    """Return the variance of every draw, (draws, rows, outputs)."""
    found = []
    for number in range(3):
        layers = jax.tree.map(lambda leaf, number=number: leaf[number], draws).weights
        hidden = np.tanh(x @ layers.weights[0].T + layers.biases[0])
        raw = hidden @ layers.weights[1].T + layers.biases[1]
        shape, rate = np.split(np.log1p(np.exp(raw)), 2, axis=1)
        found.append(shape / rate * SCALE)
    return np.array(found)


def test_the_aleatoric_std_is_the_mean_of_the_draws_stds(x):
    draws = networks(MLP((5,), "tanh"), 3, 4, count=3)
    noise = Noise(draws, SCALE, np.int32(1), np.zeros((1, 2)), "gamma_rate")
    expected = np.sqrt(by_hand(draws, x)).mean(0) ** 2
    np.testing.assert_allclose(noise.variance(x), expected, rtol=1e-3)
    np.testing.assert_allclose([noise(row) for row in x], expected, rtol=1e-3)


def test_the_noise_that_step_3_is_given_is_the_inverse_of_the_mean_precision(x):
    draws = networks(MLP((5,), "tanh"), 3, 4, count=3)
    noise = Noise(draws, SCALE, np.int32(1), np.zeros((1, 2)), "gamma_rate")
    expected = 1 / (1 / by_hand(draws, x)).mean(0)
    np.testing.assert_allclose(noise.inverse_precision(x), expected, rtol=1e-3)
    assert (noise.inverse_precision(x) < noise.variance(x)).all()


@pytest.mark.parametrize("loss", sorted(VARIANCE_HEADS))
def test_constant_noise_is_the_same_everywhere(x, loss):
    network = networks(MLP((5,), "tanh"), 3, 2 * VARIANCE_HEADS[loss].parts)
    noise = Noise.constant(network, loss, SCALE)
    np.testing.assert_allclose(noise.variance(x), np.tile(SCALE, (6, 1)), rtol=1e-5)
