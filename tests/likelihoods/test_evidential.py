import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from vebnn.likelihoods import evidential
from vebnn.likelihoods.evidential import NormalInverseGamma


def parameters(rng: np.random.Generator) -> NormalInverseGamma:
    location, evidence, shape, rate = rng.uniform(0.1, 5, (4, 50))
    return NormalInverseGamma(location - 2, evidence, 1 + shape, rate)


def students_t(given: NormalInverseGamma):
    # Amini et al., eq. 6.
    location, nu, alpha, beta = given
    return stats.t(2 * alpha, location, np.sqrt(beta * (1 + nu) / (nu * alpha)))


def test_both_integrated_out_is_students_t(rng: np.random.Generator) -> None:
    given, target = parameters(rng), rng.normal(0, 3, 50)
    with jax.enable_x64(True):
        ours = evidential.log_prob(jnp.asarray(target), NormalInverseGamma(*map(jnp.asarray, given)))
    np.testing.assert_allclose(ours, students_t(given).logpdf(target), rtol=1e-9, atol=1e-10)


def test_noise_is_the_mean_of_the_inverse_gamma(rng: np.random.Generator) -> None:
    given = parameters(rng)
    expected = stats.invgamma.mean(given.shape, scale=given.rate)
    np.testing.assert_allclose(given.aleatoric_variance, expected, rtol=1e-9)


def test_noise_and_ignorance_are_the_variance_of_students_t(rng: np.random.Generator) -> None:
    given = parameters(rng)
    total = given.aleatoric_variance + given.epistemic_variance
    np.testing.assert_allclose(total, students_t(given).var(), rtol=1e-9)


def test_ignorance_is_the_spread_of_the_mean(rng: np.random.Generator) -> None:
    given = NormalInverseGamma(np.array(1.0), np.array(0.7), np.array(6.0), np.array(2.0))
    noise = stats.invgamma.rvs(6, scale=2, size=400_000, random_state=rng)
    means = rng.normal(1, np.sqrt(noise / 0.7))
    np.testing.assert_allclose(given.epistemic_variance, means.var(), rtol=0.01)


def test_regulariser_by_hand() -> None:
    given = NormalInverseGamma(np.float32(1), np.float32(2), np.float32(3), np.float32(9))
    # |0.5 − 1| · (2 · 2 + 3)
    assert evidential.misplaced_evidence(np.float32(0.5), given) == pytest.approx(3.5)


def test_from_network_keeps_all_moments_finite() -> None:
    raw = np.array([[-3.0, 0.0, 1.0, 2.0], [5.0, -200.0, -200.0, 200.0]], np.float32)
    location, evidence, shape, rate = evidential.from_network(raw)
    softplus = np.logaddexp(0, raw.astype(float))
    np.testing.assert_array_equal(location, raw[:, :1])
    np.testing.assert_allclose(evidence, softplus[:, 1:2], rtol=1e-5, atol=2e-6)
    np.testing.assert_allclose(shape, 1 + softplus[:, 2:3], rtol=1e-5)
    np.testing.assert_allclose(rate, softplus[:, 3:], rtol=1e-5)
    given = evidential.from_network(raw)
    assert (shape > 1).all()
    assert np.isfinite(given.aleatoric_variance).all()
    assert np.isfinite(given.epistemic_variance).all()
