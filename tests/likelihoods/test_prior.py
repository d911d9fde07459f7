import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as some
from jax.test_util import check_grads
from scipy import stats

from vebnn.likelihoods import prior


def test_equals_scipy(rng: np.random.Generator) -> None:
    weight = rng.standard_normal(30)
    with jax.enable_x64(True):
        ours = prior.log_prob(jnp.asarray(weight), 4.0)
    np.testing.assert_allclose(ours, stats.norm.logpdf(weight, 0, 0.5), rtol=1e-12)


def test_total_sums_over_all_weights(rng: np.random.Generator) -> None:
    tree = {"weight": rng.standard_normal((3, 2)), "bias": rng.standard_normal(3)}
    expected = sum(stats.norm.logpdf(leaf, 0, np.sqrt(1 / 2.5)).sum() for leaf in tree.values())
    with jax.enable_x64(True):
        ours = prior.total_log_prob(jax.tree.map(jnp.asarray, tree), 2.5)
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


def test_gradients(rng: np.random.Generator) -> None:
    with jax.enable_x64(True):
        weight = jnp.asarray(rng.standard_normal(10))
        check_grads(prior.log_prob, (weight, 2.0), order=1, modes=["rev"])
        gradient = jax.grad(lambda w: jnp.sum(prior.log_prob(w, 2.0)))(weight)
    np.testing.assert_allclose(gradient, -2 * np.asarray(weight), rtol=1e-12)


@given(some.floats(-1e6, 1e6, width=32), some.floats(-12, 12, width=32))
def test_finite(weight: float, log10_precision: float) -> None:
    value = prior.log_prob(np.float32(weight), np.float32(10.0**log10_precision))
    assert np.isfinite(value)
