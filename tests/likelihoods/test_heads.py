"""The objective, log-density and prediction of a head agree."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from vebnn.likelihoods import evidential
from vebnn.likelihoods.heads import (
    Evidential,
    MeanOnly,
    MeanVariance,
    NaturalParameters,
    PredictedParts,
)

HEADS = {
    "mse": MeanOnly(),
    "nll": MeanVariance(np.float32(0)),
    "beta_nll": MeanVariance(np.float32(0.5)),
    "natural": NaturalParameters(),
    "evidential": Evidential(np.float32(0.01)),
}
LIKELIHOODS = ["mse", "nll", "natural"]
GAUSSIAN = [*LIKELIHOODS, "beta_nll"]


def some_rows(head, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    # Sequences of two targets: every function must split the last axis and no other.
    raw = rng.normal(0, 2, (6, 3, 2 * head.parts)).astype(np.float32)
    target = rng.normal(0, 2, (6, 3, 2)).astype(np.float32)
    return raw, target, rng.uniform(0.1, 2, target.shape).astype(np.float32)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_log_density_has_the_predicted_mean_and_variance(name: str, rng: np.random.Generator) -> None:
    head = HEADS[name]
    raw, target, known = some_rows(head, rng)
    mean, aleatoric, epistemic = head.predict(raw)
    # Known variance adds to the network's own.
    expected = stats.norm.logpdf(target, mean, np.sqrt(aleatoric + known))
    np.testing.assert_allclose(head.log_prob(raw, target, known), expected, rtol=1e-4, atol=1e-5)
    assert (np.asarray(epistemic) == 0).all()


def test_evidential_log_density_has_the_predicted_moments(rng: np.random.Generator) -> None:
    head = HEADS["evidential"]
    raw, target, known = some_rows(head, rng)
    mean, aleatoric, epistemic = head.predict(raw)
    # ν and α as they are, Student's scale from the variance: var = scale² · α/(α − 1).
    alpha = evidential.from_network(raw).shape
    scale = np.sqrt((aleatoric + epistemic) * (alpha - 1) / alpha)
    expected = stats.t.logpdf(target, 2 * np.asarray(alpha), mean, scale)
    np.testing.assert_allclose(head.log_prob(raw, target, known), expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(epistemic, aleatoric / evidential.from_network(raw).evidence, rtol=1e-5)


def test_mean_and_variance_by_hand() -> None:
    raw = np.array([[1.0, -2.0, 0.0, 3.0]], np.float32)
    mean, variance, _ = HEADS["nll"].predict(raw)
    np.testing.assert_array_equal(mean, raw[:, :2])
    np.testing.assert_allclose(variance, np.log1p(np.exp(raw[:, 2:])), rtol=1e-5)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_objectives_of_likelihoods_are_their_log_density(name: str, rng: np.random.Generator) -> None:
    head, rows = HEADS[name], some_rows(HEADS[name], rng)
    np.testing.assert_allclose(head.objective(*rows), head.log_prob(*rows), rtol=1e-6)


@pytest.mark.parametrize("beta", [0.0, 0.25, 1.0])
def test_beta_weighs_rows_by_all_their_noise(beta: float, rng: np.random.Generator) -> None:
    head = MeanVariance(np.float32(beta))
    raw, target, known = some_rows(head, rng)
    weight = (head.predict(raw).aleatoric_variance + known) ** beta
    expected = weight * head.log_prob(raw, target, known)
    np.testing.assert_allclose(head.objective(raw, target, known), expected, rtol=1e-5)


def test_evidence_costs_where_it_is_misplaced(rng: np.random.Generator) -> None:
    head = Evidential(np.float32(0.3))
    raw, target, known = some_rows(head, rng)
    location, nu, alpha, _ = (np.asarray(one) for one in evidential.from_network(raw))
    expected = head.log_prob(raw, target, known) - 0.3 * np.abs(target - location) * (2 * nu + alpha)
    np.testing.assert_allclose(head.objective(raw, target, known), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", HEADS)
def test_predicted_parts_stand_side_by_side(name: str, rng: np.random.Generator) -> None:
    head = HEADS[name]
    raw, *_ = some_rows(head, rng)
    outputs = PredictedParts(lambda x, *, key: x, head)(raw)
    np.testing.assert_array_equal(np.split(outputs, 3, axis=-1), head.predict(raw))


@eqx.filter_jit
def value_and_gradient(head, raw: jax.Array, target: jax.Array) -> tuple[jax.Array, jax.Array]:
    known = jnp.full_like(target, 1e-3)
    return jax.value_and_grad(lambda raw: jnp.sum(head.objective(raw, target, known)))(raw)


@pytest.mark.parametrize("name", HEADS)
@given(raw=some.lists(some.floats(-100, 100, width=32), min_size=4, max_size=4), far=some.booleans())
def test_finite_for_all_networks(name: str, raw: list[float], far: bool) -> None:
    head = HEADS[name]
    outputs = np.asarray(raw[: head.parts], np.float32)
    target = np.full(1, 1e3 if far else 0.0, np.float32)
    value, gradient = value_and_gradient(head, outputs, target)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    assert np.isfinite(np.asarray(head.predict(outputs))).all()
