import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.support.linear import assert_predictions, flatten
from vebnn.core.prng import standard_normal
from vebnn.inference import PSGHMC
from vebnn.inference.psghmc import FORGETTING, LARGEST_VELOCITY, WARM_STEPS, PSGHMCState
from vebnn.training import SILENT


def test_one_step_by_hand(key: jax.Array) -> None:
    sampler = PSGHMC(friction=2.0, temperature=0.5)
    position, velocity = np.array([0.5, -1.0, 2.0]), np.array([1.0, -0.5, 0.2])
    memory, gradient = np.array([4.0, 100.0, 0.0]), np.array([3.0, -20.0, 0.1])
    state = PSGHMCState(*map(jnp.asarray, (position, velocity, memory)), jnp.float32(6))
    after = sampler.step(key, state, jnp.asarray(gradient), jnp.float32(0.1))
    memory = memory + (WARM_STEPS + 7) ** -FORGETTING * (gradient**2 - memory)
    # The third parameter is hardly seen by the data: its width is that of the prior.
    scale = 1 / np.sqrt(np.maximum(memory, 1))
    kept = np.exp(-2.0 * 0.1)
    noise = np.sqrt(0.5 * (1 - kept**2)) * np.asarray(standard_normal(key, 3), float)
    velocity = kept * (velocity - 0.1 * scale * gradient) + noise
    np.testing.assert_allclose(after.squared_gradient, memory, rtol=1e-5)
    np.testing.assert_allclose(after.velocity, velocity, rtol=1e-5)
    np.testing.assert_allclose(after.position, position + 0.1 * scale * velocity, rtol=1e-5)
    assert after.count == 7


def test_the_first_gradient_sets_the_first_mass(key: jax.Array) -> None:
    sampler = PSGHMC()
    after = sampler.step(key, sampler.init(jnp.zeros(2)), jnp.asarray([3.0, -5.0]), jnp.float32(0.1))
    np.testing.assert_allclose(after.squared_gradient, [9, 25], rtol=1e-6)


def test_velocities_are_bounded(key: jax.Array) -> None:
    sampler = PSGHMC()
    state = PSGHMCState(jnp.zeros(1), jnp.full(1, 50.0), jnp.ones(1), jnp.float32(10))
    after = sampler.step(key, state, jnp.zeros(1), jnp.float32(0.05))
    assert float(after.velocity[0]) == LARGEST_VELOCITY


def test_posterior_of_conjugate_linear_regression(linear, key: jax.Array) -> None:
    # Short steps: with the mass the curvature itself, they widen the posterior by about h²/4.
    sampler = PSGHMC(2_000, burn_in=1_000, thinning=20, num_chains=4, batch_size=100)
    posterior = sampler.run(key, linear.problem, SILENT)
    assert_predictions(flatten(posterior.draws), linear.mean, linear.covariance)
    np.testing.assert_allclose(posterior.info["temperature"].mean(), 1, atol=0.8)


def test_epochs_of_parts_of_the_rows_sample_the_same_posterior(linear, key: jax.Array) -> None:
    # Three of ten batches an epoch. If a batch stood for a third only, the std would be √3 times wider.
    sampler = PSGHMC(1_000, burn_in=2_000, thinning=40, num_chains=4, batch_size=6, epoch_rows=18)
    draws = flatten(sampler.run(key, linear.problem, SILENT).draws).reshape(-1, 3)
    std = np.sqrt(np.diag(linear.covariance))
    np.testing.assert_allclose(draws.std(0) / std, 1, atol=0.3)
    np.testing.assert_array_less(np.abs(draws.mean(0) - linear.mean) / std, 0.3)


@pytest.mark.parametrize(("num_rows", "batch_size", "batches"), [(512, 512, 1), (513, 256, 3)])
def test_few_rows_are_one_batch_and_chains_have_as_many_steps(num_rows, batch_size, batches) -> None:
    sampler = PSGHMC.for_rows(num_rows)
    assert sampler.batch_size == batch_size
    assert sampler.burn_in * batches == 3_000
    assert 100 <= sampler.thinning * batches < 100 + batches


def test_scales_of_a_hierarchy_have_their_posterior(key: jax.Array) -> None:
    # z ~ N(0, 1) of 30 numbers, t ~ N(0, 1); y = z exp(t) + noise: the width e^t is learned.
    rng = np.random.default_rng(0)
    noise, size = 0.5, 30
    y = 2.5 * rng.normal(size=size) + noise * rng.normal(size=size)

    def potential(flat: jax.Array) -> jax.Array:
        z, t = flat[:-1], flat[-1]
        misfit = (jnp.asarray(y) - z * jnp.exp(t)) / noise
        return 0.5 * (jnp.sum(misfit**2) + jnp.sum(flat**2))

    sampler, gradient = PSGHMC(), jax.grad(potential)

    def step(state: PSGHMCState, key_step: jax.Array) -> tuple[PSGHMCState, jax.Array]:
        state = sampler.step(key_step, state, gradient(state.position), jnp.float32(0.05))
        return state, state.position[-1]

    start = sampler.init(jnp.zeros(size + 1))
    _, t = jax.jit(lambda keys: jax.lax.scan(step, start, keys))(jax.random.split(key, 60_000))
    # With z integrated out, y ~ N(0, e^{2t} + noise²): a density of one number.
    grid = np.linspace(-4, 4, 2_001)
    variance = np.exp(2 * grid) + noise**2
    log_density = -0.5 * grid**2 - size / 2 * np.log(variance) - 0.5 * (y**2).sum() / variance
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    mean = (density * grid).sum()
    std = np.sqrt((density * (grid - mean) ** 2).sum())
    drawn = np.asarray(t[10_000:])
    assert drawn.mean() == pytest.approx(mean, abs=0.3 * std)
    assert drawn.std() == pytest.approx(std, rel=0.25)


@pytest.mark.parametrize("wrong", [{"step_size": 0}, {"friction": -1}])
def test_wrong_settings_are_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PSGHMC(**wrong)
