import equinox as eqx
import jax
import numpy as np
import pytest
from scipy import stats

from vebnn.core.types import Dataset
from vebnn.likelihoods.heads import MeanVariance
from vebnn.likelihoods.log_likelihoods import HeadDensity, HeadObjective, apply_to_rows
from vebnn.networks import MLP


@pytest.fixture
def batch(rng: np.random.Generator) -> Dataset:
    weight = rng.choice([0.0, 1.0, 2.0], (9, 2))
    parts = (rng.normal(size=(9, 3)), rng.normal(size=(9, 2)), weight, rng.uniform(0.1, 1, (9, 2)))
    return Dataset(*(part.astype(np.float32) for part in parts))


def test_sums_count_every_target_by_its_weight(batch: Dataset, key: jax.Array) -> None:
    network = MLP((4,), "tanh").build((3,), 4, key=key)
    params, skeleton = eqx.partition(network, eqx.is_inexact_array)
    head = MeanVariance(np.float32(0.5))
    (first, second), biases = map(np.asarray, network.weights), map(np.asarray, network.biases)
    raw = np.tanh(batch.x @ first.T + next(biases)) @ second.T + next(biases)
    variance = np.log1p(np.exp(raw[:, 2:])) + batch.variance
    density = stats.norm.logpdf(batch.target, raw[:, :2], np.sqrt(variance))
    found = HeadDensity(skeleton, head)(params, batch, None)
    np.testing.assert_allclose(found, np.sum(batch.weight * density), rtol=1e-4)
    found = HeadObjective(skeleton, head)(params, batch, None)
    np.testing.assert_allclose(found, np.sum(batch.weight * variance**0.5 * density), rtol=1e-4)


def test_every_row_has_dropout_of_its_own(key: jax.Array) -> None:
    network = MLP((40,), "tanh", dropout_rate=0.5).build((1,), 1, key=key)
    x = np.ones((6, 1), np.float32)
    assert len(np.unique(apply_to_rows(network, x, key))) == 6
    assert len(np.unique(apply_to_rows(network, x, None))) == 1
