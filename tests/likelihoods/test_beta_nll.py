import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from vebnn.likelihoods import beta_nll

BETAS = [0.0, 0.25, 0.5, 1.0]


def parameters(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    target, mean = rng.normal(0, 2, (2, 40))
    return target, mean, rng.uniform(0.05, 6, 40)


@pytest.mark.parametrize("beta", BETAS)
def test_value_is_the_weighted_log_density(beta: float, rng: np.random.Generator) -> None:
    target, mean, variance = parameters(rng)
    with jax.enable_x64(True):
        ours = beta_nll.weighted_log_prob(*map(jnp.asarray, (target, mean, variance)), beta)
    expected = variance**beta * stats.norm.logpdf(target, mean, np.sqrt(variance))
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


@pytest.mark.parametrize("beta", BETAS)
def test_gradients_are_those_of_the_paper(beta: float, rng: np.random.Generator) -> None:
    # Paper, eq. (L_beta_nll_der), row by row; with β = 1 the mean moves as squared error moves it.
    target, mean, variance = parameters(rng)

    def loss(mean: jax.Array, variance: jax.Array) -> jax.Array:
        return -jnp.sum(beta_nll.weighted_log_prob(jnp.asarray(target), mean, variance, beta))

    with jax.enable_x64(True):
        by_mean, by_variance = jax.grad(loss, (0, 1))(jnp.asarray(mean), jnp.asarray(variance))
    std = np.sqrt(variance)
    np.testing.assert_allclose(by_mean, (mean - target) / std ** (2 - 2 * beta), rtol=1e-10)
    expected = (variance - (target - mean) ** 2) / (2 * std ** (4 - 2 * beta))
    np.testing.assert_allclose(by_variance, expected, rtol=1e-9, atol=1e-10)
