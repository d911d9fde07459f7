"""Log-likelihoods of a batch: weighted sums of the densities of its targets."""

import jax
import numpy as np
import pytest
from scipy import special, stats

from vebnn.core.types import Dataset, NoisyDataset, ResidualDataset
from vebnn.likelihoods.heads import MeanVariance
from vebnn.likelihoods.log_likelihoods import (
    CorrelatedNoiseGiven,
    GaussianNoiseGiven,
    IsotropicPrior,
    MeanAndNoise,
    MixtureNoiseGiven,
    MixtureNoiseLearned,
    ModesAndNoise,
    SquaredResiduals,
    apply_to_rows,
)
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS
from vebnn.networks import MLP, build_networks
from vebnn.networks.mlp import Perceptron


@pytest.fixture
def batch(rng: np.random.Generator) -> Dataset:
    weight = rng.choice([0.0, 1.0, 2.0], (9, 2))
    parts = (rng.normal(size=(9, 3)), rng.normal(size=(9, 2)), weight, rng.uniform(0.1, 1, (9, 2)))
    return Dataset(*(part.astype(np.float32) for part in parts))


@pytest.fixture
def network(key: jax.Array) -> Perceptron:
    return MLP((4,), "tanh").build((3,), 4, key=key)


@pytest.fixture
def raw(network: Perceptron, batch: Dataset) -> np.ndarray:
    """The outputs of the network, by hand."""
    (first, second), biases = map(np.asarray, network.weights), map(np.asarray, network.biases)
    return np.tanh(batch.x @ first.T + next(biases)) @ second.T + next(biases)


def test_noise_given(batch: Dataset, key: jax.Array) -> None:
    network = MLP(()).build((3,), 2, key=key)
    mean = batch.x @ np.asarray(network.weights[0]).T + np.asarray(network.biases[0])
    density = stats.norm.logpdf(batch.target, mean, np.sqrt(batch.known_variance))
    found = GaussianNoiseGiven()(network, NoisyDataset(*batch), None)
    np.testing.assert_allclose(found, np.sum(batch.weight * density), rtol=1e-4)


def test_mean_and_noise_of_one_network(batch: Dataset, network: Perceptron, raw: np.ndarray) -> None:
    head = MeanVariance(np.float32(0.5))
    variance = np.log1p(np.exp(raw[:, 2:])) + batch.known_variance
    density = stats.norm.logpdf(batch.target, raw[:, :2], np.sqrt(variance))
    found = MeanAndNoise(head, density=True)(network, batch, None)
    np.testing.assert_allclose(found, np.sum(batch.weight * density), rtol=1e-4)
    found = MeanAndNoise(head)(network, batch, None)
    np.testing.assert_allclose(found, np.sum(batch.weight * variance**0.5 * density), rtol=1e-4)


def test_squared_residuals(batch: Dataset, key: jax.Array, rng: np.random.Generator) -> None:
    network = MLP(()).build((3,), 2, key=key)
    squared, offset = rng.uniform(0.1, 2, (2, 9, 2)).astype(np.float32)
    rows = ResidualDataset(batch.x, squared, batch.weight, offset)
    raw = batch.x @ np.asarray(network.weights[0]).T + np.asarray(network.biases[0])
    variance = np.log1p(np.exp(raw)) + offset
    density = stats.norm.logpdf(np.sqrt(squared), 0, np.sqrt(variance))
    head = VARIANCE_HEADS["beta_nll"]
    found = SquaredResiduals(head, density=True)(network, rows, None)
    np.testing.assert_allclose(found, np.sum(batch.weight * density), rtol=1e-4)
    found = SquaredResiduals(head)(network, rows, None)
    np.testing.assert_allclose(found, np.sum(batch.weight * variance**0.5 * density), rtol=1e-4)


def mixture_density(target: np.ndarray, raw: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return log Σ π N(y | μ, σ²) of one output, with two modes that start at −1 and 1."""
    by_mode = stats.norm.logpdf(target, raw[:, :2] + [-1, 1], np.sqrt(variance))
    return special.logsumexp(special.log_softmax(raw[:, 2:], axis=1) + by_mode, axis=1)


def test_mixture_with_noise_given(
    batch: Dataset, network: Perceptron, raw: np.ndarray, rng: np.random.Generator
) -> None:
    variance = rng.uniform(0.1, 1, (9, 1, 2)).astype(np.float32)
    target, weight = batch.target[:, :1], batch.weight[:, :1]
    found = MixtureNoiseGiven()(network, NoisyDataset(batch.x, target, weight, variance), None)
    expected = np.sum(weight[:, 0] * mixture_density(target, raw, variance[:, 0]))
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_mixture_with_noise_learned(batch: Dataset, network: Perceptron, raw: np.ndarray) -> None:
    one = Dataset(batch.x, *(part[:, :1] for part in batch[1:]))
    params = ModesAndNoise(network, np.log(np.array([[0.2, 0.7]], np.float32)))
    found = MixtureNoiseLearned()(params, one, None)
    density = mixture_density(one.target, raw, one.known_variance + np.array([0.2, 0.7]))
    np.testing.assert_allclose(found, np.sum(one.weight[:, 0] * density), rtol=1e-4)


def test_every_row_has_dropout_of_its_own(key: jax.Array) -> None:
    networks = build_networks(MLP((40,), "tanh", dropout_rate=0.5), (1,), 1, key[None])
    network = jax.tree.map(lambda leaf: leaf[0], networks)
    x = np.ones((6, 1), np.float32)
    assert len(np.unique(apply_to_rows(network, x, key))) == 6
    assert len(np.unique(apply_to_rows(network, x, None))) == 1


@pytest.mark.parametrize("of_squares", [True, False])
def test_weight_decay_is_pytorchs_factor_beside_a_mean_loss(of_squares: bool) -> None:
    """The minimum over θ of mean(loss) + decay/2 · θ² is that of Σ loss − log prior."""
    weight, decay, theta = np.array([[1.0], [2.0], [0.0], [3.0]]), 0.3, 1.7
    prior = IsotropicPrior.decay(decay, weight, of_squares=of_squares)
    # The sum of r²/2 is the mean of r², times half of the total weight.
    factor = weight.sum() / (2 if of_squares else 1)
    slope = jax.grad(prior)(np.float32(theta))
    assert float(slope) == pytest.approx(-factor * decay * theta, rel=1e-5)


def test_expected_log_prior_is_the_mean_over_weights(rng: np.random.Generator) -> None:
    mean, std = rng.normal(size=3), rng.uniform(0.1, 2, 3)
    prior = IsotropicPrior(np.float32(2.5))
    draws = mean + std * rng.standard_normal((200_000, 3))
    each = stats.norm.logpdf(draws, 0, 2.5**-0.5).sum(1)
    found = prior.expected_log_prob([mean[:1], mean[1:]], [std[:1], std[1:]])
    assert abs(float(found) - each.mean()) < 4 * each.std() / np.sqrt(len(each))


def test_correlated_noise_given(batch: Dataset, key: jax.Array) -> None:
    network = MLP(()).build((3,), 2, key=key)
    mean = batch.x @ np.asarray(network.weights[0]).T + np.asarray(network.biases[0])
    correlation = np.array([[1.0, -0.6], [-0.6, 1.0]])
    alike = np.repeat(batch.weight[:, :1], 2, axis=1)
    expected = 0.0
    for y, centre, variance, weight in zip(
        batch.target, mean, batch.known_variance, alike, strict=True
    ):
        covariance = np.sqrt(np.outer(variance, variance)) * correlation
        expected += weight[0] * stats.multivariate_normal.logpdf(y, centre, covariance)
    rows = NoisyDataset(batch.x, batch.target, alike, batch.known_variance)
    found = CorrelatedNoiseGiven.of(correlation)(network, rows, None)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    alone = CorrelatedNoiseGiven.of(np.eye(2))(network, rows, None)
    np.testing.assert_allclose(alone, GaussianNoiseGiven()(network, rows, None), rtol=1e-5)
