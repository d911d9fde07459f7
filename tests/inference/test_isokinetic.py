"""Isokinetic dynamics against BlackJAX, and against what theory says."""

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from blackjax.mcmc import integrators

from vebnn.inference.isokinetic import Particle, kick, move, refresh

SIZE = 7
PRECISION = np.diag(np.linspace(0.5, 30, SIZE)) + 0.3


def log_density(position: jax.Array) -> jax.Array:
    return -0.5 * position @ PRECISION.astype(np.float32) @ position - jnp.sum(jnp.cos(position))


def potential(position: jax.Array) -> tuple[jax.Array, jax.Array]:
    return jax.value_and_grad(lambda place: -log_density(place))(position)


def random_direction(key: jax.Array, size: int) -> jax.Array:
    return refresh(key, jnp.zeros(size), jnp.float32(1e-3))


def particle(seed: int) -> Particle:
    keys = jax.random.split(jax.random.key(seed))
    position = jax.random.normal(keys[0], (SIZE,))
    return Particle(position, random_direction(keys[1], SIZE), *potential(position))


@pytest.mark.parametrize("step_size", [0.01, 0.4, 3.0])
@pytest.mark.parametrize("scaled", [False, True])
def test_a_step_is_that_of_blackjax(step_size: float, scaled: bool) -> None:
    scale = jnp.linspace(0.2, 2, SIZE) if scaled else jnp.ones(SIZE)
    start = particle(0)
    here, error = move(potential, start, scale, jnp.float32(step_size))
    state = integrators.IntegratorState(
        start.position, start.momentum, -start.potential, -start.gradient
    )
    with jax.numpy_rank_promotion("allow"):
        step = integrators.isokinetic_mclachlan(log_density, scale**2)
        there, kinetic = step(state, step_size)
    np.testing.assert_allclose(here.position, there.position, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(here.momentum, there.momentum, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(here.potential, -there.logdensity, rtol=1e-4)
    energy = kinetic - there.logdensity + state.logdensity
    np.testing.assert_allclose(error, energy, rtol=1e-3, atol=1e-4)


def test_refreshment_is_that_of_blackjax_for_the_same_normal_numbers(monkeypatch) -> None:
    normal = jax.random.normal(jax.random.key(3), (SIZE,))
    monkeypatch.setattr("vebnn.inference.isokinetic.standard_normal", lambda *_: normal)
    momentum = particle(0).momentum
    monkeypatch.setattr(integrators, "normal", lambda *_, **__: normal)
    theirs = integrators.partially_refresh_momentum(momentum, jax.random.key(0), 0.3, 2.0)
    ours = refresh(jax.random.key(0), momentum, jnp.float32(0.15))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    assert blackjax.__version__


def test_energy_is_kept_up_to_the_third_power_of_the_step() -> None:
    def rms_error(step_size: float) -> float:
        one = jax.jit(lambda start: move(potential, start, jnp.ones(SIZE), jnp.float32(step_size))[1])
        return float(np.sqrt(np.mean([one(particle(seed)) ** 2 for seed in range(10)])))

    assert rms_error(0.4) < 1
    np.testing.assert_allclose(np.log2(rms_error(0.1) / rms_error(0.05)), 3, atol=0.5)


def test_a_kick_of_no_gradient_changes_nothing() -> None:
    momentum = particle(2).momentum
    turned, change = kick(momentum, jnp.zeros(SIZE), jnp.float32(1))
    np.testing.assert_allclose(turned, momentum, rtol=1e-5)
    np.testing.assert_allclose(change, 0, atol=1e-5)


def test_a_strong_kick_turns_the_momentum_down_the_gradient() -> None:
    gradient = jnp.zeros(SIZE).at[2].set(1e15)
    turned, change = kick(particle(2).momentum, gradient, jnp.float32(1))
    np.testing.assert_allclose(turned, -jnp.eye(SIZE)[2], atol=1e-6)
    assert np.isfinite(change)


def test_memory_of_the_direction_falls_exponentially() -> None:
    size = 20_000
    momentum = random_direction(jax.random.key(0), size)
    after = refresh(jax.random.key(1), momentum, jnp.float32(1))
    np.testing.assert_allclose(jnp.linalg.norm(after), 1, rtol=1e-5)
    # The cosine is exp(−1) with a standard error of about 1/√d.
    np.testing.assert_allclose(jnp.dot(momentum, after), np.exp(-1), atol=4 / np.sqrt(size))
