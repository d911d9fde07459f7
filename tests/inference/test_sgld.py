import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.support.linear import assert_predictions, flatten
from vebnn.core.prng import standard_normal
from vebnn.inference import SGLD
from vebnn.training import SILENT, TrainingDiverged


@pytest.mark.parametrize("temperature", [1.0, 0.25])
def test_one_step_by_hand(key: jax.Array, temperature: float) -> None:
    # θ ← θ − (η/2) g + N(0, T η)
    sampler = SGLD(temperature=temperature)
    state = sampler.init(jnp.asarray([0.5, -1.0, 2.0]))
    gradient = jnp.asarray([3.0, -0.2, 40.0])
    noise = np.asarray(standard_normal(key, 3), float)
    moved = sampler.step(key, state, gradient, jnp.float32(0.01)).position
    expected = np.array([0.485, -0.999, 1.8]) + 0.1 * np.sqrt(temperature) * noise
    np.testing.assert_allclose(moved, expected, rtol=1e-5)


def test_posterior_of_conjugate_linear_regression(linear, key: jax.Array) -> None:
    """The step size is finite, and its effect known: with Λ the precision of the posterior,

    θ − m ← (1 − η Λ/2)(θ − m) + N(0, η) has the covariance Λ⁻¹ (1 − η Λ/4)⁻¹.
    """
    step_size = 2e-3
    sampler = SGLD(
        num_samples=2_000, burn_in=500, thinning=10, num_chains=4, step_size=step_size, batch_size=100
    )
    posterior = sampler.run(key, linear.problem, SILENT)
    precision = np.linalg.inv(linear.covariance)
    widened = linear.covariance @ np.linalg.inv(np.eye(3) - step_size * precision / 4)
    # A tenth: noticeable here, so that the formula in the docstring is put to the test.
    assert 1.05 < (np.diag(widened) / np.diag(linear.covariance)).max() < 1.2
    assert_predictions(flatten(posterior.draws), linear.mean, widened)


def test_divergence_names_step_and_chain(linear, key: jax.Array) -> None:
    sampler = SGLD(num_samples=5, burn_in=200, thinning=1, num_chains=2, step_size=1e3)
    with pytest.raises(TrainingDiverged, match=r"at step \d+ of chain \d of 2.*smaller `step_size`"):
        sampler.run(key, linear.problem, SILENT)


@pytest.mark.parametrize(
    "setting", ["num_samples", "thinning", "num_chains", "batch_size", "step_size"]
)
def test_wrong_settings_get_a_sentence(setting: str) -> None:
    with pytest.raises(ValueError, match=f"`{setting}` must be"):
        SGLD(**{setting: 0})
