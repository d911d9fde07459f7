"""Networks that output a whole mixture, and labels that agree between networks."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from vebnn.likelihoods.mixture import Mixture
from vebnn.strategies.mixture.modes import (
    MixtureMoments,
    WholeMixture,
    match_labels,
    relabel,
    split_whole,
)


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


def test_labels_are_matched_for_every_output_on_its_own(rng):
    reference = Mixture(
        np.array([-2.0, 0.0, 2.0]) + rng.normal(size=(30, 2, 3)), np.log(np.full((30, 2, 3), 1 / 3))
    )
    orders = np.array([[[0, 1, 2], [2, 0, 1]], [[1, 2, 0], [0, 1, 2]]])
    shuffled = np.empty((2, 30, 2, 3))
    for network in range(2):
        for output in range(2):
            # The mode that is the reference's j-th stands at position orders[..., j].
            place = orders[network, output]
            shuffled[network][:, output, place] = reference.mean[:, output]
    shuffled += 0.1 * rng.normal(size=shuffled.shape)
    found = match_labels(shuffled, reference)
    np.testing.assert_array_equal(found, orders)
    again = relabel(shuffled, found)
    assert np.abs(again - reference.mean).max() < 1


def test_sequences_keep_their_steps(rng):
    mean = np.array([-2.0, 2.0]) + rng.normal(0, 0.1, (3, 9, 5, 1, 2))  # (networks, rows, time, ...)
    mean[1] = mean[1, ..., ::-1]
    reference = Mixture(mean[0], np.log(np.full(mean[0].shape, 0.5)))
    order = match_labels(mean, reference)
    np.testing.assert_array_equal(order[:, 0], [[0, 1], [1, 0], [0, 1]])
    assert np.abs(relabel(mean, order) - [-2, 2]).max() < 1


def test_a_mode_without_weight_does_not_decide_the_labels():
    # The reference's second mode has no weight: it may be anywhere.
    reference = Mixture(np.tile([1.0, 100.0], (4, 1, 1)), np.log(np.tile([1 - 1e-9, 1e-9], (4, 1, 1))))
    found = match_labels(np.tile([90.0, 1.1], (1, 4, 1, 1)), reference)
    np.testing.assert_array_equal(found, [[[1, 0]]])


def test_one_mode_needs_no_matching(rng):
    reference = Mixture(rng.normal(size=(4, 2, 1)), np.zeros((4, 2, 1)))
    found = match_labels(rng.normal(size=(3, 4, 2, 1)), reference)
    np.testing.assert_array_equal(found, np.zeros((3, 2, 1)))
