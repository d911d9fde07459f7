import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from jax.test_util import check_grads
from scipy import stats

from vebnn.likelihoods import gaussian


def test_equals_scipy(rng: np.random.Generator) -> None:
    target, mean = rng.normal(0, 3, (2, 50))
    variance = rng.uniform(0.01, 10, 50)
    with jax.enable_x64(True):
        ours = gaussian.log_prob(jnp.asarray(target), jnp.asarray(mean), jnp.asarray(variance))
    np.testing.assert_allclose(ours, stats.norm.logpdf(target, mean, np.sqrt(variance)), rtol=1e-12)


def test_gradients(rng: np.random.Generator) -> None:
    with jax.enable_x64(True):
        target, mean = jnp.asarray(rng.normal(0, 1, (2, 20)))
        variance = jnp.asarray(rng.uniform(0.2, 2, 20))
        check_grads(gaussian.log_prob, (target, mean, variance), order=2, modes=["rev"])


def test_shapes_must_match() -> None:
    with pytest.raises(ValueError, match="could not be broadcast"):
        gaussian.log_prob(jnp.zeros((3, 1)), jnp.zeros(3), jnp.ones((3, 1)))


value_and_gradients = jax.jit(jax.value_and_grad(gaussian.log_prob, (0, 1, 2)))


@given(
    some.floats(-1e6, 1e6, width=32), some.floats(-1e6, 1e6, width=32), some.floats(-12, 12, width=32)
)
def test_finite_and_never_above_its_mode(target: float, mean: float, log10_variance: float) -> None:
    variance = np.float32(10.0**log10_variance)
    arguments = (np.float32(target), np.float32(mean), variance)
    value, gradients = value_and_gradients(*arguments)
    assert np.isfinite(value)
    assert np.isfinite(gradients).all()
    mode = stats.norm.logpdf(0, 0, np.sqrt(float(variance)))
    assert value <= mode + 1e-5 * (1 + abs(mode))
