"""Labels of modes agree between networks."""

import numpy as np

from vebnn.likelihoods.mixture import Mixture
from vebnn.strategies.mixture.labels import match_labels, relabel


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
