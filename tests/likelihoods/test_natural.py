import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from vebnn.likelihoods import gaussian, natural


def parameters(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return rng.normal(0, 2, 40), rng.normal(0, 3, 40), -rng.uniform(0.05, 4, 40)


def test_the_exponential_family_is_the_gaussian(rng: np.random.Generator) -> None:
    target, eta1, eta2 = parameters(rng)
    given = natural.Natural(eta1, eta2)
    ours = stats.norm.logpdf(target, given.mean, np.sqrt(given.variance))
    expected = (
        eta1 * target
        + eta2 * target**2
        + eta1**2 / (4 * eta2)
        + 0.5 * np.log(-2 * eta2)
        - 0.5 * np.log(2 * np.pi)
    )
    np.testing.assert_allclose(ours, expected, rtol=1e-10)


def test_moments_give_the_parameters_back(rng: np.random.Generator) -> None:
    _, eta1, eta2 = parameters(rng)
    given = natural.Natural(eta1, eta2)
    np.testing.assert_allclose(given.mean / given.variance, eta1, rtol=1e-12)
    np.testing.assert_allclose(-1 / (2 * given.variance), eta2, rtol=1e-12)


def test_the_loss_is_convex_in_both_parameters(rng: np.random.Generator) -> None:
    def loss(eta: jax.Array, target: jax.Array) -> jax.Array:
        given = natural.Natural(eta[0], eta[1])
        return -gaussian.log_prob(target, given.mean, given.variance)

    target, eta1, eta2 = parameters(rng)
    with jax.enable_x64(True):
        bends = jax.vmap(jax.hessian(loss))(jnp.stack([eta1, eta2], 1), jnp.asarray(target))
    assert np.linalg.eigvalsh(bends).min() > 0


def test_from_network_splits_the_last_axis() -> None:
    raw = np.array([[-2.0, 0.5, 1.0, 30.0]], np.float32)
    eta1, eta2 = natural.from_network(raw)
    np.testing.assert_array_equal(eta1, raw[:, :2])
    np.testing.assert_allclose(eta2, -0.5 * np.log1p(np.exp(raw[:, 2:].astype(float))), rtol=1e-5)
