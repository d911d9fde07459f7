import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import solve_discrete_lyapunov

from tests.support.linear import assert_predictions, flatten
from vebnn.core.prng import standard_normal
from vebnn.inference import SGHMC
from vebnn.inference.sghmc import SGHMCState
from vebnn.training import SILENT


def test_one_step_by_hand(key: jax.Array) -> None:
    # v ← (1−a) v − η g + N(0, 2 a η T);  θ ← θ + v
    sampler = SGHMC(friction=0.1, temperature=0.5)
    state = SGHMCState(jnp.asarray([0.5, -1.0]), jnp.asarray([1.0, -2.0]))
    after = sampler.step(key, state, jnp.asarray([3.0, -20.0]), jnp.float32(0.01))
    noise = np.asarray(standard_normal(key, 2), float)
    momentum = np.array([0.9 - 0.03, -1.8 + 0.2]) + np.sqrt(2 * 0.1 * 0.01 * 0.5) * noise
    np.testing.assert_allclose(after.momentum, momentum, rtol=1e-5)
    np.testing.assert_allclose(after.position, np.array([0.5, -1.0]) + momentum, rtol=1e-5)


def test_a_chain_begins_at_rest() -> None:
    state = SGHMC().init(jnp.ones(3))
    np.testing.assert_array_equal(state.momentum, np.zeros(3))


def test_posterior_of_conjugate_linear_regression(linear, key: jax.Array) -> None:
    """The step size is finite, and its effect known.

    With Λ the precision of the posterior, (θ − m, v) is moved by a matrix and pushed by noise; the
    covariance that such an update leaves unchanged solves a Lyapunov equation.
    """
    step_size, friction = 5e-4, 0.1
    sampler = SGHMC(
        num_samples=2_000,
        burn_in=500,
        thinning=10,
        num_chains=4,
        step_size=step_size,
        friction=friction,
        batch_size=100,
    )
    posterior = sampler.run(key, linear.problem, SILENT)
    pull, one = step_size * np.linalg.inv(linear.covariance), np.eye(3)
    move = np.block([[one - pull, (1 - friction) * one], [-pull, (1 - friction) * one]])
    push = 2 * friction * step_size * np.block([[one, one], [one, one]])
    stationary = solve_discrete_lyapunov(move, push)
    widened = stationary[:3, :3]
    # As the docstring says: too large by about η λ/4 in each direction.
    excess = np.linalg.eigvals(widened @ np.linalg.inv(linear.covariance)) - 1
    np.testing.assert_allclose(np.sort(excess), np.sort(np.linalg.eigvals(pull)) / 4, rtol=0.15)
    assert_predictions(flatten(posterior.draws), linear.mean, widened)
    # And the momenta: η T/(1 − a/2) along directions in which the posterior is flat.
    np.testing.assert_allclose(np.diag(stationary)[3:], step_size / (1 - friction / 2), rtol=0.1)


def test_kinetic_temperature_is_that_of_the_noise(key: jax.Array) -> None:
    sampler = SGHMC(temperature=0.3, friction=0.2)
    size, step_size = 20_000, jnp.float32(1e-3)

    def step(state: SGHMCState, key_step: jax.Array) -> tuple[SGHMCState, None]:
        return sampler.step(key_step, state, jnp.zeros(size), step_size), None

    state, _ = jax.lax.scan(step, sampler.init(jnp.zeros(size)), jax.random.split(key, 100))
    heat = sampler.diagnose(state, 1e-3)["kinetic_temperature"]
    np.testing.assert_allclose(heat, 0.3, rtol=4 * np.sqrt(2 / size))


@pytest.mark.parametrize(("setting", "value"), [("friction", 0), ("friction", 1.5), ("decay", 2)])
def test_wrong_settings_get_a_sentence(setting: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"`{setting}` must be a number in"):
        SGHMC(**{setting: value})
