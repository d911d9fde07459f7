import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from tests.support.linear import flatten
from vebnn.inference import BayesByBackprop
from vebnn.inference.bbb import Gaussians, _DrawnLikelihood, _NegativeDivergence
from vebnn.likelihoods.log_likelihoods import IsotropicPrior
from vebnn.training import SILENT, Objective, Training


def test_finds_the_best_independent_gaussians_of_a_linear_model(linear, key: jax.Array) -> None:
    """For a Gaussian posterior with precision matrix Λ they have its mean and variances 1/Λ_ii.

    Adam with one ε a step leaves the parameters jittering; at this learning rate by a few percent of
    a standard deviation, beside four standard errors of the draws.
    """
    engine = BayesByBackprop(
        num_samples=5_000,
        num_members=4,
        training=Training(num_epochs=20_000, learning_rate=1e-3, batch_size=100),
    )
    posterior = engine.run(key, linear.problem, SILENT)
    draws = flatten(posterior.draws).astype(float)
    assert draws.shape == (4, 5_000, 3)
    std = 1 / np.sqrt(np.diag(np.linalg.inv(linear.covariance)))
    # The members differ only in their start and their noise: their mean has half the jitter.
    found = draws.reshape(-1, 3)
    assert (np.abs(found.mean(0) - linear.mean) / std < 0.1 + 4 / np.sqrt(20_000)).all()
    np.testing.assert_allclose(found.std(0) / std, 1, atol=0.05 + 4 / np.sqrt(40_000))
    # Independent, although the posterior is not.
    assert np.abs(np.corrcoef(found.T) - np.eye(3)).max() < 0.05
    assert not posterior.markov
    # KL of Gaussians, by the textbook.
    kl = np.sum(-np.log(std) + (std**2 + linear.mean**2) / 2 - 0.5)
    np.testing.assert_allclose(posterior.info["kl"], kl, rtol=0.05)


def test_divergence_is_that_of_gaussians() -> None:
    rng = np.random.default_rng(0)
    mean, rho, precision = rng.normal(size=6), rng.normal(size=6), 3.0
    std = np.log1p(np.exp(rho))
    q = Gaussians(
        [jnp.asarray(mean[:2]), jnp.asarray(mean[2:])], [jnp.asarray(rho[:2]), jnp.asarray(rho[2:])]
    )
    found = -_NegativeDivergence(IsotropicPrior(np.float32(precision)))(q)
    # Without a formula: the mean of log q − log p over draws.
    draws = mean + std * rng.standard_normal((200_000, 6))
    log_ratio = stats.norm.logpdf(draws, mean, std) - stats.norm.logpdf(draws, 0, precision**-0.5)
    each = log_ratio.sum(1)
    assert abs(found - each.mean()) < 4 * each.std() / np.sqrt(len(each))


def test_divergence_counts_once_whatever_the_batches(linear, key: jax.Array) -> None:
    q = Gaussians(
        jax.tree.map(lambda leaf: leaf[0], linear.starts),
        jax.tree.map(lambda leaf: jnp.full_like(leaf[0], -40.0), linear.starts),
    )  # so narrow that every draw is the mean
    likelihood, prior = linear.objective.log_likelihood, linear.objective.log_prior
    objective = Objective(_DrawnLikelihood(likelihood), _NegativeDivergence(prior))
    kl = -_NegativeDivergence(prior)(q)
    for num_batches in (1, 7):
        expected = kl - num_batches * likelihood(q.mean, linear.data, None)
        np.testing.assert_allclose(objective(q, linear.data, num_batches, key), expected, rtol=1e-5)


def test_draws_have_the_moments_of_the_gaussians(key: jax.Array) -> None:
    q = Gaussians(jnp.asarray([1.0, -2.0]), jnp.asarray([0.0, 1.5]))
    draws = jax.vmap(q.draw)(jax.random.split(key, 40_000))
    std = np.log1p(np.exp([0.0, 1.5]))
    assert (np.abs(draws.mean(0) - np.array([1.0, -2.0])) < 4 * std / 200).all()
    np.testing.assert_allclose(draws.std(0), std, rtol=4 / np.sqrt(80_000))


def test_starts_from_the_warm_starts(linear, key: jax.Array) -> None:
    training = Training(num_epochs=1, learning_rate=1e-6, batch_size=100)
    engine = BayesByBackprop(num_samples=2, num_members=3, initial_std=1e-5, training=training)
    draws = flatten(engine.run(key, linear.problem, SILENT).draws)
    expected = np.repeat(flatten(linear.starts)[:3, None], 2, axis=1)
    np.testing.assert_allclose(draws, expected, atol=1e-4)


@pytest.mark.parametrize("setting", ["num_samples", "num_members", "initial_std"])
def test_wrong_settings_get_a_sentence(setting: str) -> None:
    with pytest.raises(ValueError, match=f"`{setting}` must be"):
        BayesByBackprop(**{setting: 0})
