import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arviz_stats.base import array_stats
from jax.flatten_util import ravel_pytree

from tests.support.linear import flatten
from vebnn.core.prng import standard_normal
from vebnn.inference import PSGLD
from vebnn.inference.psgld import PSGLDState
from vebnn.inference.sampling import with_curvature
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


def moments_by_quadrature(stability: float) -> tuple[float, float]:
    """Return E[θ²] of p ∝ exp(−θ⁴/4), and of p/G with G = 1/√(θ⁶ + ε)."""
    theta = np.linspace(-5, 5, 20_001)
    target = np.exp(-(theta**4) / 4)
    biased = target * np.sqrt(theta**6 + stability)
    exact, wrong = (np.sum(theta**2 * p) / np.sum(p) for p in (target, biased))
    return float(exact), float(wrong)


@pytest.mark.parametrize("correction", [True, False])
def test_without_memory_only_the_corrected_chain_samples_the_target(
    correction: bool, key: jax.Array
) -> None:
    """Without Γ, the diffusion dθ = −½ G U' dt + √G dW has the density p/G, not p.

    Every entry of the vector is a chain of its own: the target is one-dimensional, U = θ⁴/4.
    """
    sampler = PSGLD(smoothing=0.0, stability=0.5, correction=correction)

    def advance(state: PSGLDState, key: jax.Array) -> tuple[PSGLDState, None]:
        theta = state.position
        bends = (3 * theta**2,) if sampler.uses_curvature else ()
        return sampler.step(key, state, theta**3, jnp.float32(0.02), *bends), None

    start = sampler.init(jax.random.normal(key, (20_000,)))
    end, _ = jax.jit(lambda: jax.lax.scan(advance, start, jax.random.split(key, 1_500)))()
    exact, biased = moments_by_quadrature(0.5)
    assert biased > 1.4 * exact
    squares = np.asarray(end.position, float) ** 2
    error = squares.std() / np.sqrt(len(squares))
    # Beside four standard errors, 1 % for the finite step.
    expected = exact if correction else biased
    assert abs(squares.mean() - expected) < 4 * error + 0.01 * expected


def test_the_correction_is_the_derivative_of_the_preconditioner(key: jax.Array) -> None:
    # For U = Σ c θ³/3: g = c θ², ∂g/∂θ = 2 c θ.
    c, theta, memory = jnp.array([1.0, 3.0]), jnp.array([0.7, -1.2]), jnp.array([0.4, 2.0])
    sampler = PSGLD(smoothing=0.9, stability=1e-2, temperature=0.5, correction=True)
    state, step_size = PSGLDState(theta, memory), jnp.float32(0.1)

    def preconditioner(at: jax.Array) -> jax.Array:
        return 1 / jnp.sqrt(0.9 * memory + 0.1 * (c * at**2) ** 2 + 1e-2)

    with_it = sampler.step(key, state, c * theta**2, step_size, 2 * c * theta).position
    without = sampler.step(key, state, c * theta**2, step_size).position
    slope = jax.grad(lambda at: jnp.sum(preconditioner(at)))(theta)
    np.testing.assert_allclose(with_it - without, 0.5 * 0.1 * 0.5 * slope, rtol=1e-4)


def test_the_curvature_of_a_step_is_the_diagonal_of_the_hessian(linear, key: jax.Array) -> None:
    precision = np.linalg.inv(linear.covariance)
    like, unravel = ravel_pytree(jax.tree.map(lambda leaf: leaf[0], linear.starts))

    def found(flat: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jax.value_and_grad(lambda at: linear.objective(unravel(at), linear.data, 1))(flat)

    estimate = jax.jit(jax.vmap(lambda key: with_curvature(key, found, like)[1]))
    mean = np.mean(estimate(jax.random.split(key, 4_000)), axis=0)
    np.testing.assert_allclose(np.sort(mean), np.sort(np.diag(precision)), rtol=0.05)
    (_, gradient), _ = with_curvature(key, found, like)
    np.testing.assert_allclose(gradient, found(like)[1], rtol=1e-5)


def test_corrected_chains_of_networks_run(linear, key: jax.Array) -> None:
    sampler = PSGLD(num_samples=3, burn_in=2, thinning=1, batch_size=16, correction=True)
    draws = flatten(sampler.run(key, linear.problem, SILENT).draws)
    plain = PSGLD(num_samples=3, burn_in=2, thinning=1, batch_size=16)
    assert np.isfinite(draws).all()
    assert not np.array_equal(draws, flatten(plain.run(key, linear.problem, SILENT).draws))
