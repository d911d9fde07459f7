"""The paper's argument for separate steps: how the losses bend in the networks' outputs (appendix)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vebnn.core.types import Array
from vebnn.likelihoods import gamma, gaussian


def of_mean_and_noise(output: Array, y: Array) -> Array:
    """Return the loss of a joint network, whose outputs are the mean u and v = log σ²."""
    return -gaussian.log_prob(y, output[0], jnp.exp(output[1]))


def of_mean(u: Array, y: Array, v: Array) -> Array:
    """Return the loss of Step 1, with the noise fixed."""
    return of_mean_and_noise(jnp.stack([u, v]), y)


def of_noise(v: Array, u: Array, y: Array) -> Array:
    """Return the Gaussian loss of Step 2, with the mean fixed."""
    return of_mean_and_noise(jnp.stack([u, v]), y)


def of_shape_and_rate(output: Array, squared_residual: Array) -> Array:
    """Return the Gamma loss of Step 2."""
    return -gamma.log_prob(squared_residual, gamma.Gamma(*output))


@pytest.fixture
def points(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return means u, log-variances v and observations y."""
    return rng.normal(0, 2, 60), rng.uniform(-4, 4, 60), rng.normal(0, 2, 60)


def test_the_loss_of_step_1_is_strictly_convex(points) -> None:
    u, v, y = points
    with jax.enable_x64(True):
        bends = jax.vmap(jax.hessian(of_mean))(u, y, v)
    np.testing.assert_allclose(bends, np.exp(-v), rtol=1e-10)


def test_the_gaussian_loss_of_step_2_is_convex(points) -> None:
    u, v, y = points
    with jax.enable_x64(True):
        bends = jax.vmap(jax.hessian(of_noise))(v, u, y)
        flat = jax.vmap(jax.hessian(of_noise))(v, y, y)
    np.testing.assert_allclose(bends, (y - u) ** 2 / 2 * np.exp(-v), rtol=1e-10)
    np.testing.assert_allclose(flat, 0, atol=1e-12)  # without a residual, the loss is linear


def test_the_gamma_loss_of_step_2_is_strictly_convex(rng: np.random.Generator) -> None:
    # The determinant is (α ψ'(α) − 1)/λ², and α ψ'(α) > 1.
    outputs = np.exp(rng.uniform(-2, 2, (60, 2)))
    with jax.enable_x64(True):
        bends = jax.vmap(jax.hessian(of_shape_and_rate))(outputs, rng.uniform(0.01, 9, 60))
    assert np.linalg.eigvalsh(bends).min() > 0


def test_the_joint_loss_is_indefinite_and_has_no_stationary_point(points) -> None:
    u, v, y = points
    outputs = np.stack([u, v], 1)
    with jax.enable_x64(True):
        bends = jax.vmap(jax.hessian(of_mean_and_noise))(outputs, y)
        slopes = jax.vmap(jax.grad(of_mean_and_noise))(outputs, y)
    determinant = np.linalg.det(bends)
    np.testing.assert_allclose(determinant, -((y - u) ** 2) / 2 * np.exp(-2 * v), rtol=1e-9)
    smallest, largest = np.linalg.eigvalsh(bends).T
    assert (smallest < 0).all()
    assert (largest > 0).all()
    # Where the slope in the mean is zero, u = y, the slope in v is 1/2.
    residual = -np.asarray(slopes[:, 0]) * np.exp(v)
    np.testing.assert_allclose(slopes[:, 1], (1 - residual**2 * np.exp(-v)) / 2, rtol=1e-9)
