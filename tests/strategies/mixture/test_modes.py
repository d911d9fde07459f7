"""Networks that output a whole mixture."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from vebnn.strategies.mixture.modes import MixtureMoments, WholeMixture, split_whole


def test_modes_whose_labels_are_exchanged_stay_where_they_are():
    # The outputs of a network are distances of its modes from the starting centres, −1 and 1.
    at, logit, variance = np.array([0.9, -0.9]), np.array([0.3, -0.2]), np.array([0.01, 0.04])
    raw = jnp.asarray([*(at - [-1, 1]), *logit], jnp.float32)
    constant = lambda values: lambda x, key=None: jnp.asarray(values, jnp.float32)  # noqa: E731
    whole = WholeMixture(constant(raw), jnp.array([[1, 0]]), constant(variance))
    mixture, found = split_whole(whole(jnp.zeros(1)), 2)
    np.testing.assert_allclose(mixture.mean[0], at[::-1], rtol=1e-6)
    np.testing.assert_allclose(mixture.log_weight[0], special.log_softmax(logit)[::-1], rtol=1e-5)
    np.testing.assert_allclose(found[0], variance[::-1])
    # However modes are numbered, the mixture is the same.
    weight = special.softmax(logit)
    mean, spread = MixtureMoments(whole, 2)(jnp.zeros(1))
    assert mean == pytest.approx(weight @ at, rel=1e-5)
    assert spread == pytest.approx(weight @ (variance + (at - weight @ at) ** 2), rel=1e-5)


def test_weights_of_averaged_outputs_are_normalised_again(rng):
    # (rows, 3 · outputs · modes); means of log-weights over draws do not sum to one.
    outputs = rng.normal(size=(4, 3 * 2 * 3)).astype(np.float32)
    mixture, variance = split_whole(outputs, 3)
    assert mixture.mean.shape == variance.shape == (4, 2, 3)
    np.testing.assert_allclose(np.exp(mixture.log_weight).sum(-1), 1, rtol=1e-5)
    np.testing.assert_array_equal(mixture.mean.reshape(4, 6), outputs[:, :6])
    np.testing.assert_array_equal(variance.reshape(4, 6), outputs[:, 12:])
