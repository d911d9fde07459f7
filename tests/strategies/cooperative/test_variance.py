"""Step 2: the variance network, which learns the noise from squared residuals."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from tests.support.arrays import dataset, networks, residuals
from vebnn import MLP, Training
from vebnn.core.types import NoisyDataset
from vebnn.inference.evaluation import evaluate_draws
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS
from vebnn.strategies.cooperative.evidence import log_marginal_likelihood
from vebnn.strategies.cooperative.residuals import unit_of
from vebnn.strategies.cooperative.variance import Evidence, train_variance
from vebnn.training import SILENT

SETTINGS = Training(num_epochs=1_500, learning_rate=1e-2)


def fit_noise(x, squared, offset=0.0, rescaled=True, weight=1.0, loss="gamma"):
    """Return the learned variance of each row."""
    parts, data = VARIANCE_HEADS[loss].parts, residuals(x, squared, weight, offset)
    noise = train_variance(
        jax.random.key(1),
        networks(MLP((5,), "tanh"), x.shape[1], parts * squared.shape[1]),
        loss,
        data,
        SETTINGS,
        scale=unit_of(data, rescaled=rescaled),
        stage=SILENT,
    )
    return noise.variance(np.asarray(x, np.float32))


def test_constant_noise_is_the_mean_squared_residual():
    # Whatever its shape, the mean of a maximum-likelihood Gamma is the sample mean.
    squared = np.random.default_rng(3).normal(0, 1.7, (2_000, 1)) ** 2
    found = fit_noise(np.zeros((2_000, 1)), squared)
    np.testing.assert_allclose(found, squared.mean(), rtol=0.02)


@pytest.mark.parametrize("loss", sorted(VARIANCE_HEADS))
def test_noise_that_changes_with_x_is_found(loss):
    rng = np.random.default_rng(4)
    x = rng.uniform(-1.7, 1.7, (2_000, 1))
    std = np.exp(0.6 * x)
    found = np.sqrt(fit_noise(x, (std * rng.normal(size=x.shape)) ** 2, loss=loss))
    assert np.mean(np.abs(found - std) / std) < 0.1


@pytest.mark.parametrize("loss", sorted(VARIANCE_HEADS))
def test_only_what_exceeds_the_offset_is_noise(loss):
    rng = np.random.default_rng(5)
    x = rng.uniform(-1, 1, (4_000, 1))
    squared = rng.normal(0, np.sqrt(1.0 + 3.0), x.shape) ** 2
    found = fit_noise(x, squared, offset=3.0, loss=loss)
    assert found.mean() == pytest.approx(1.0, rel=0.2)


def test_rescaled_noise_does_not_depend_on_units():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(300, 2))
    squared = rng.normal(size=(300, 1)) ** 2
    np.testing.assert_allclose(fit_noise(x, squared * 1e-6), fit_noise(x, squared) * 1e-6, rtol=1e-3)


def test_every_output_has_a_scale_of_its_own():
    rng = np.random.default_rng(6)
    squared = rng.normal(size=(300, 2)) ** 2
    x, units = rng.normal(size=(300, 2)), np.array([1e-6, 1e3])
    np.testing.assert_allclose(fit_noise(x, squared * units), fit_noise(x, squared) * units, rtol=2e-3)


def test_without_rescaling_the_prior_has_a_scale():
    # The reason for rescaling: weights of size one cannot give a rate of a million.
    rng = np.random.default_rng(7)
    x, squared = np.zeros((50, 1)), rng.normal(0, 1e-3, (50, 1)) ** 2
    assert fit_noise(x, squared, rescaled=False, loss="gamma_rate").mean() > 3 * squared.mean()
    assert fit_noise(x, squared, loss="gamma_rate").mean() == pytest.approx(squared.mean(), rel=0.2)


def test_rows_of_weight_zero_do_not_count():
    rng = np.random.default_rng(8)
    squared = rng.normal(size=(400, 1)) ** 2
    squared[200:] = 100
    weight = np.repeat([[1.0], [0.0]], 200, 0)
    found = fit_noise(np.zeros((400, 1)), squared, weight=weight)
    np.testing.assert_allclose(found, squared[:200].mean(), rtol=0.05)


def test_later_rounds_stop_where_the_marginal_likelihood_is_largest():
    # The residuals ask for a large noise, the draws for a small one: LMglk falls with every epoch.
    rng = np.random.default_rng(11)
    x = rng.normal(size=(40, 1))
    draws = networks(MLP((3,), "tanh"), 1, 1, count=4)
    outputs = evaluate_draws(draws, x.astype(np.float32))
    target = outputs.mean(0) + 0.01 * rng.normal(size=(40, 1))
    known = rng.uniform(0.01, 0.02, (40, 1))
    squared = rng.uniform(2, 8, (40, 1))
    observed = dataset(x, target, rng.choice([1.0, 2.0], (40, 1)), known)

    def learn(settings, **more):
        return train_variance(
            jax.random.key(1),
            networks(MLP((5,), "tanh"), 1, 2),
            "gamma",
            residuals(x, squared),
            settings,
            scale=unit_of(residuals(x, squared), rescaled=True),
            stage=SILENT,
            **more,
        )

    settings = Training(num_epochs=60, learning_rate=1e-2, patience=5)
    noise = learn(settings, evidence=Evidence(outputs, observed))
    assert int(noise.num_epochs) < 60
    # The network kept is the one of the best epoch, and LMglk per observation is what was watched.
    watched = noise.history[:, 1]
    variance = noise.variance(observed.x) + observed.known_variance
    rows = NoisyDataset(*observed[:3], variance)
    expected = float(log_marginal_likelihood(draws, rows)) / observed.weight.sum()
    assert -np.nanmin(watched) == pytest.approx(expected, rel=1e-4)
    plain = learn(replace(settings, patience=None))
    assert int(plain.num_epochs) == 60
