"""How the variance network may learn from squared residuals."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import special, stats

from vebnn.likelihoods.variance_heads import VARIANCE_HEADS, GaussianHead

GAUSSIAN = ["nll", "beta_nll", "natural"]


def some_rows(head, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    raw = rng.normal(0, 1.5, (30, 2 * head.parts)).astype(np.float32)
    squared, offset = rng.uniform(0.05, 3, (2, 30, 2)).astype(np.float32)
    return raw, squared, offset


@pytest.mark.parametrize("name", ["gamma", "gamma_rate"])
def test_gamma_is_scipys_with_the_offset_in_its_mean(name: str, rng: np.random.Generator) -> None:
    head = VARIANCE_HEADS[name]
    raw, squared, offset = some_rows(head, rng)
    first, second = np.split(np.log1p(np.exp(raw.astype(float))), 2, axis=-1)
    if name == "gamma":  # mean and shape; an output of zero is a mean of one
        mean, alpha = first / np.log(2), second
    else:  # shape and rate
        mean, alpha = first / second, first
    np.testing.assert_allclose(head.variance(raw), mean, rtol=1e-4)
    expected = stats.gamma.logpdf(squared, alpha, scale=(mean + offset) / alpha)
    for found in (head.objective(raw, squared, offset), head.log_prob(raw, squared, offset)):
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_gaussian_heads_see_the_residual_itself(name: str, rng: np.random.Generator) -> None:
    head = VARIANCE_HEADS[name]
    raw, squared, offset = some_rows(head, rng)
    variance = head.variance(raw) + offset
    expected = stats.norm.logpdf(np.sqrt(squared), 0, np.sqrt(variance))
    np.testing.assert_allclose(head.log_prob(raw, squared, offset), expected, rtol=1e-4, atol=1e-5)


def test_variances_by_hand(rng: np.random.Generator) -> None:
    raw = rng.normal(0, 2, (5, 1)).astype(np.float32)
    softplus = np.log1p(np.exp(raw.astype(float)))
    np.testing.assert_allclose(VARIANCE_HEADS["nll"].variance(raw), softplus, rtol=1e-4)
    np.testing.assert_allclose(VARIANCE_HEADS["natural"].variance(raw), 1 / softplus, rtol=1e-4)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_objectives_move_the_variance_towards_the_residual(name: str, rng: np.random.Generator) -> None:
    # β-NLL of a fixed mean: d/dσ² is (r − σ²)/(2 σ^(4 − 2β)); the output moves σ² by softplus.
    head = VARIANCE_HEADS[name]
    raw, squared, offset = some_rows(head, rng)
    slope = jax.grad(lambda raw: jnp.sum(head.objective(raw, squared, offset)))(raw)
    own = np.asarray(head.variance(raw), float)
    variance, beta = own + offset, float(getattr(head, "beta", 0))
    by_output = special.expit(raw) * (-(own**2) if name == "natural" else 1)
    expected = (squared - variance) / (2 * variance ** (2 - beta)) * by_output
    np.testing.assert_allclose(slope, expected, rtol=1e-3, atol=1e-5)


def test_the_ablation_has_the_papers_beta() -> None:
    assert VARIANCE_HEADS["nll"].beta == 0
    assert VARIANCE_HEADS["beta_nll"].beta == 0.5
    assert isinstance(VARIANCE_HEADS["beta_nll"], GaussianHead)


@eqx.filter_jit
def value_and_gradient(head, raw: jax.Array, squared: jax.Array) -> tuple[jax.Array, jax.Array]:
    offset = jnp.zeros_like(squared)
    return jax.value_and_grad(lambda raw: jnp.sum(head.objective(raw, squared, offset)))(raw)


@pytest.mark.parametrize("name", VARIANCE_HEADS)
@given(
    raw=some.lists(some.floats(-100, 100, width=32), min_size=2, max_size=2),
    squared=some.floats(0, 1e6, width=32),
)
def test_finite_for_all_networks_and_residuals(name: str, raw: list[float], squared: float) -> None:
    head = VARIANCE_HEADS[name]
    outputs, residual = np.asarray(raw[: head.parts], np.float32), np.full(1, squared, np.float32)
    value, gradient = value_and_gradient(head, outputs, residual)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
