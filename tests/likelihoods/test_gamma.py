import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as some
from jax.test_util import check_grads
from scipy import special, stats

from vebnn.likelihoods import gamma


def parameters(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    # Residuals large enough that the 1e-12 added before the logarithm is nothing.
    return rng.uniform(0.01, 5, 50), rng.uniform(0.1, 8, 50), rng.uniform(0.1, 8, 50)


def test_equals_scipy(rng: np.random.Generator) -> None:
    residual, shape, rate = parameters(rng)
    with jax.enable_x64(True):
        ours = gamma.log_prob(jnp.asarray(residual), gamma.Gamma(jnp.asarray(shape), jnp.asarray(rate)))
    np.testing.assert_allclose(
        ours, stats.gamma.logpdf(residual, shape, scale=1 / rate), rtol=1e-8, atol=1e-9
    )


def test_gradients_are_those_of_equation_7(rng: np.random.Generator) -> None:
    residual, shape, rate = parameters(rng)

    def loss(shape: jax.Array, rate: jax.Array) -> jax.Array:
        return -jnp.sum(gamma.log_prob(jnp.asarray(residual), gamma.Gamma(shape, rate)))

    with jax.enable_x64(True):
        by_shape, by_rate = jax.grad(loss, (0, 1))(jnp.asarray(shape), jnp.asarray(rate))
        check_grads(loss, (jnp.asarray(shape), jnp.asarray(rate)), order=1, modes=["rev"])
    expected = special.digamma(shape) - np.log(rate) - np.log(residual)
    np.testing.assert_allclose(by_shape, expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(by_rate, residual - shape / rate, rtol=1e-10)


def test_lemma_squared_gaussian_residuals_are_gamma(rng: np.random.Generator) -> None:
    # Change of variables: ±√r both give r, and |dr/de| = 2√r.
    residual, std = rng.uniform(0.01, 4, 30), rng.uniform(0.3, 2, 30)
    expected = np.log(2) + stats.norm.logpdf(np.sqrt(residual), 0, std) - np.log(2 * np.sqrt(residual))
    with jax.enable_x64(True):
        half = gamma.Gamma(jnp.full(30, 0.5), jnp.asarray(1 / (2 * std**2)))
        ours = gamma.log_prob(jnp.asarray(residual), half)
    np.testing.assert_allclose(ours, expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(half.mean, std**2, rtol=1e-10)


def test_mean_is_that_of_the_distribution(rng: np.random.Generator) -> None:
    _, shape, rate = parameters(rng)
    expected = stats.gamma.mean(shape, scale=1 / rate)
    np.testing.assert_allclose(gamma.Gamma(shape, rate).mean, expected, rtol=1e-10)


def test_plus_keeps_the_shape_and_shifts_the_mean(rng: np.random.Generator) -> None:
    offset, shape, rate = parameters(rng)
    before = gamma.Gamma(shape, rate)
    after = before.plus(offset)
    np.testing.assert_array_equal(after.shape, shape)
    np.testing.assert_allclose(after.mean, before.mean + offset, rtol=1e-12)


def test_from_network_splits_the_last_axis() -> None:
    raw = np.array([[-2.0, 0.0, 1.0, 30.0]], np.float32)
    shape, rate = gamma.from_network(raw)
    softplus = np.log1p(np.exp(raw.astype(float)))
    np.testing.assert_allclose(shape, softplus[:, :2], rtol=1e-5)
    np.testing.assert_allclose(rate, softplus[:, 2:], rtol=1e-5)


@jax.jit
@jax.value_and_grad
def network_loss(raw: jax.Array, residual: jax.Array) -> jax.Array:
    return jnp.sum(gamma.log_prob(residual, gamma.from_network(raw)))


@given(
    some.one_of(some.just(0.0), some.floats(0, 1e8, width=32)),
    some.floats(-200, 200, width=32),
    some.floats(-200, 200, width=32),
)
def test_finite_for_all_networks_and_residuals(
    residual: float, raw_shape: float, raw_rate: float
) -> None:
    raw = np.array([raw_shape, raw_rate], np.float32)
    value, gradient = network_loss(raw, np.full(1, residual, np.float32))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
