import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from vebnn.likelihoods.log_gamma import SHIFT, digamma, log_gamma

# From the smallest parameter of a head to far beyond any, and both sides of where the series changes.
X = np.concatenate([np.geomspace(1e-6, 1e6, 5_000), np.linspace(0.5, 2 * SHIFT, 5_000)])


@pytest.mark.parametrize(("ours", "scipys"), [(log_gamma, special.gammaln), (digamma, special.digamma)])
def test_equals_scipy(ours, scipys) -> None:
    single = X.astype(np.float32)
    np.testing.assert_allclose(ours(single), scipys(single.astype(np.float64)), rtol=2e-6, atol=2e-6)
    with jax.enable_x64(True):
        np.testing.assert_allclose(ours(jnp.asarray(X)), scipys(X), rtol=2e-9, atol=2e-9)


def test_the_gradient_is_digamma() -> None:
    x = jnp.asarray([1e-6, 0.5, 3.999, 4.0, 17.0, 1e6])
    np.testing.assert_array_equal(jax.vmap(jax.grad(log_gamma))(x), digamma(x))
