"""Step 2 with draws of the variance network."""

import jax
import numpy as np
import pytest

from tests.support.arrays import networks, residuals
from vebnn import MLP, PSGHMC, PSGLD, Ensemble, Training
from vebnn.strategies.cooperative.residuals import unit_of
from vebnn.strategies.cooperative.variance_sampling import sample_variance
from vebnn.training import SILENT

NETWORK = MLP((8,), "tanh", prior="learned")
ENGINE = PSGLD(num_samples=40, burn_in=1_500, thinning=25, num_chains=4, step_size=5e-3)


def sample(x, squared, scale=None, offset=0.0, network=NETWORK, engine=ENGINE, warm_up=None):
    data = residuals(x, squared, offset=offset)
    return sample_variance(
        jax.random.key(1),
        lambda keys: networks(network, x.shape[1], 1, count=len(keys)),
        networks(network, x.shape[1], 1, count=4),
        "gamma_half",
        data,
        engine,
        scale=unit_of(data, rescaled=True) if scale is None else scale,
        warm_up=warm_up,
        stage=SILENT,
    )


def test_constant_noise_has_the_posterior_of_an_integral_over_its_logarithm(rng):
    # A linear network on inputs of zero is its bias: log σ² ~ N(0, 1), a posterior in one dimension.
    squared = 1.5 * rng.normal(size=(12, 1)) ** 2
    found = sample(np.zeros((12, 1)), squared, scale=np.ones(1), network=MLP(()))
    grid = np.linspace(-5, 5, 4_001)
    log_density = -0.5 * grid**2 - 6 * grid - 0.5 * squared.sum() * np.exp(-grid)
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    x = np.zeros((1, 1), np.float32)
    std = (density * np.exp(grid / 2)).sum()
    assert found.noise.variance(x).item() == pytest.approx(std**2, rel=0.08)
    precision = (density * np.exp(-grid)).sum()
    assert found.noise.inverse_precision(x).item() == pytest.approx(1 / precision, rel=0.12)


def test_few_rows_of_constant_noise_bend_it_little():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(60, 4))
    std = np.sqrt(sample(x, rng.normal(size=(60, 1)) ** 2).noise.variance(x.astype(np.float32)))
    assert std.std() / std.mean() < 0.2


def test_short_chains_are_enough_after_a_warm_up():
    rng = np.random.default_rng(4)
    x = rng.uniform(-1.7, 1.7, (20_000, 2))
    std = np.exp(0.6 * x[:, :1])
    squared, short = (std * rng.normal(size=std.shape)) ** 2, PSGHMC(5, 5, 1, num_chains=4)

    def error(**settings):
        found = np.sqrt(sample(x, squared, engine=short, **settings).noise.variance(np.float32(x)))
        return np.mean(np.abs(found - std) / std)

    assert error(warm_up=Training(20, learning_rate=3e-3)) < min(0.02, error() / 2)


def test_noise_that_changes_with_x_is_found():
    rng = np.random.default_rng(4)
    x = rng.uniform(-1.7, 1.7, (400, 2))
    std = np.exp(0.6 * x[:, :1])
    found = np.sqrt(sample(x, (std * rng.normal(size=std.shape)) ** 2).noise.variance(np.float32(x)))
    assert np.mean(np.abs(found - std) / std) < 0.12


def test_only_what_exceeds_the_offset_is_noise():
    rng = np.random.default_rng(5)
    x = rng.uniform(-1, 1, (2_000, 1))
    found = sample(x, rng.normal(0, 2, x.shape) ** 2, offset=3.0).noise.variance(np.float32(x))
    assert found.mean() == pytest.approx(1.0, rel=0.2)


def test_an_ensemble_has_members_of_its_own():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(50, 2))
    engine = Ensemble(3, Training(num_epochs=50, learning_rate=1e-2))
    found = sample(x, rng.normal(size=(50, 1)) ** 2, engine=engine)
    assert len(found.noise.draws.weights.biases[0]) == 3
    assert (found.noise.variance(np.float32(x)) > 0).all()
