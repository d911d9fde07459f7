"""The rows of one fit, and the random keys of its steps."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest

from tests.support.arrays import dataset, networks
from vebnn import MLP, MCDropout
from vebnn.inference import Posterior
from vebnn.strategies.contract import Rows, Shapes
from vebnn.strategies.fit_data import FitData, Keys, appended, first


@pytest.fixture
def sequences(rng):
    weight = np.ones((12, 5, 2))
    weight[3, 3:] = 0  # the padding of a short sequence
    return dataset(rng.normal(size=(12, 5, 3)), rng.normal(size=(12, 5, 2)), weight)


def make(data, held_out=None, num_folds=3):
    settings = SimpleNamespace(validation_fraction=0.25)
    return FitData.make(jax.random.key(0), settings, Rows(data, held_out), num_folds)


def test_every_purpose_and_round_has_a_key_of_its_own():
    keys = Keys(jax.random.key(0), ("split", "step 1", "step 2"))
    found = [
        tuple(jax.random.key_data(keys(purpose, number)).tolist())
        for purpose in keys.purposes
        for number in range(4)
    ]
    assert len(set(found)) == 12
    np.testing.assert_array_equal(*(jax.random.key_data(keys("step 1", n)) for n in (2, 2)))


def test_sizes_of_a_row(sequences):
    assert Shapes.of(sequences) == Shapes((5, 3), (5,), 2)
    assert Shapes.of(dataset(np.zeros((4, 3)), np.zeros((4, 1)))) == Shapes((3,), (), 1)


@pytest.mark.parametrize(("num_folds", "expected"), [(0, 0), (3, 3), (50, 12)])
def test_there_are_no_more_folds_than_rows(sequences, num_folds, expected):
    assert make(sequences, num_folds=num_folds).num_folds == expected


def test_one_row_has_no_folds():
    assert make(dataset(np.zeros((1, 1)), np.zeros((1, 1)))).num_folds == 0


def test_held_out_rows_have_the_numbers_after_the_training_rows(sequences):
    few = jax.tree.map(lambda leaf: leaf[:4], sequences)
    rows = make(sequences, few)
    for watched in rows.split.watch_rows:
        np.testing.assert_array_equal(watched, [12, 13, 14, 15])
    assert max(max(trained) for trained in rows.split.train_rows) == 11
    both = appended(sequences, few)
    np.testing.assert_array_equal(both.x[12:], few.x)
    assert appended(sequences, None) is sequences


def test_probes_are_arranged_by_chains_and_have_nan_in_padding(sequences, rng):
    rows = make(sequences)
    means = rng.normal(size=(6, *rows.probes.target.shape)).astype(np.float32)
    posterior = Posterior(None, np.zeros((2, 7)), True, {})
    found = rows.probe_of(posterior, means)
    assert found.shape == (2, 3, 12, 5, 2)
    np.testing.assert_array_equal(found[1, 0, :3], means[3, :3])
    assert np.isnan(found[:, :, 3, 3:]).all()
    assert np.isnan(found).sum() == 6 * 4


def test_the_engine_checks_the_first_network():
    rows = make(dataset(np.ones((20, 2)), np.zeros((20, 1))))
    rows.check(MCDropout(), networks(MLP((9,), dropout_rate=0.5), 2, 1, count=2))
    with pytest.raises(ValueError, match="MC dropout needs a network with dropout"):
        rows.check(MCDropout(), networks(MLP((9,)), 2, 1, count=2))


def test_first_of_some_networks(rng):
    stacked = networks(MLP(()), 2, 1, count=3)
    x = rng.normal(size=2).astype(np.float32)
    expected = stacked.weights.weights[0][0] @ x + stacked.weights.biases[0][0]
    np.testing.assert_allclose(first(stacked)(x), expected, rtol=1e-5)


def test_there_are_no_more_folds_than_groups(sequences):
    settings = SimpleNamespace(validation_fraction=0.25)
    for num_groups, expected in ((12, 4), (3, 3), (1, 0)):
        rows = Rows(sequences, groups=np.arange(12) % num_groups)
        made = FitData.make(jax.random.key(0), settings, rows, 4)
        assert made.num_folds == expected
        assert len(set(made.split.fold)) == max(expected, 1)
