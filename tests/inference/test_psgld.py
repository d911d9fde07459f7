import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arviz_stats.base import array_stats

from tests.support.linear import flatten
from vebnn.core.prng import standard_normal
from vebnn.inference import PSGLD
from vebnn.inference.psgld import PSGLDState
from vebnn.training import SILENT, TrainingDiverged

START = np.array([0.5, -1.0, 2.0])
GRADIENTS = np.array([[3.0, -0.2, 0.0], [-1.0, 5.0, 40.0]])


@pytest.mark.parametrize("temperature", [1.0, 0.25])
def test_two_steps_by_hand(temperature: float) -> None:
    # V ← αV + (1−α) g²;  θ ← θ − (η/2) g/√(V+ε) + N(0, T η/√(V+ε)), η falls between the steps.
    sampler = PSGLD(temperature=temperature, smoothing=0.9, stability=1e-4)
    keys = jax.random.split(jax.random.key(0), 2)
    step_sizes = [1e-2, 5e-3]
    position, memory = START, np.zeros(3)
    state = sampler.init(jnp.asarray(START, jnp.float32))
    for key, gradient, step_size in zip(keys, GRADIENTS, step_sizes, strict=True):
        memory = 0.9 * memory + 0.1 * gradient**2
        scale = 1 / np.sqrt(memory + 1e-4)
        noise = np.asarray(standard_normal(key, 3), float)
        drift = -step_size / 2 * scale * gradient
        position = position + drift + np.sqrt(temperature * step_size * scale) * noise
        state = sampler.step(key, state, jnp.asarray(gradient, jnp.float32), jnp.float32(step_size))
    np.testing.assert_allclose(state.position, position, rtol=1e-5)
    np.testing.assert_allclose(state.squared_gradient, memory, rtol=1e-5)


def test_noise_has_the_variance_of_the_step(key: jax.Array) -> None:
    sampler = PSGLD(temperature=0.5, smoothing=0.99, stability=1e-5)
    size = 50_000
    state = PSGLDState(jnp.zeros(size), jnp.full(size, 4.0))
    moved = jax.jit(sampler.step)(key, state, jnp.zeros(size), jnp.float32(0.1)).position
    expected = 0.5 * 0.1 / np.sqrt(0.99 * 4.0 + 1e-5)
    np.testing.assert_allclose(np.var(moved), expected, rtol=4 * np.sqrt(2 / size))


def test_cold_chains_without_noise_descend_to_the_mode(linear, key: jax.Array) -> None:
    sampler = PSGLD(
        num_samples=1, burn_in=3_000, thinning=1, step_size=3e-3, decay=0.999, temperature=0.0
    )
    draws = flatten(sampler.run(key, linear.problem, SILENT).draws)
    np.testing.assert_allclose(draws[0, 0], linear.mean, atol=2e-3)


def test_posterior_of_conjugate_linear_regression(linear, key: jax.Array) -> None:
    """Predictions have the mean and the std of the closed form.

    The preconditioner remembers 10,000 steps, many times the ~50 over which the chain forgets where
    it was: it is then as good as constant and the dropped term Γ is zero. A full batch leaves no
    gradient noise, and η/2 · √Λ ≈ 0.02 for a posterior precision Λ ≈ 200, so that the variance is
    too large by about 1 %: hence a tolerance of 2 % beside four Monte Carlo standard errors.
    """
    sampler = PSGLD(
        num_samples=2_000,
        burn_in=30_000,
        thinning=25,
        num_chains=4,
        step_size=3e-3,
        decay=1.0,
        smoothing=0.9999,
        batch_size=100,
    )
    draws = flatten(sampler.run(key, linear.problem, SILENT).draws).astype(float)
    assert draws.shape == (4, 2_000, 3)
    places = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, -2.0, 1.0], [3.0, 3.0, 1.0]])
    outputs = draws @ places.T
    mean = places @ linear.mean
    std = np.sqrt(np.einsum("ij,jk,ik->i", places, linear.covariance, places))
    size = array_stats.ess(outputs, chain_axis=0, draw_axis=1)
    assert size.min() > 1_000
    error = std / np.sqrt(size)
    assert (np.abs(outputs.mean((0, 1)) - mean) < 4 * error).all()
    size = array_stats.ess((outputs - mean) ** 2, chain_axis=0, draw_axis=1)
    # The standard error of a std is std/√(2 · size).
    assert (np.abs(outputs.std((0, 1)) / std - 1) < 4 / np.sqrt(2 * size) + 0.02).all()


def test_divergence_names_step_and_chain(linear, key: jax.Array) -> None:
    sampler = PSGLD(num_samples=5, burn_in=200, thinning=1, num_chains=2, step_size=1e38)
    with pytest.raises(TrainingDiverged, match=r"at step \d+ of chain \d of 2.*smaller `step_size`"):
        sampler.run(key, linear.problem, SILENT)
