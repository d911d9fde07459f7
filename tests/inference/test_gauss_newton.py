"""The Gauss-Newton matrix and the evidence against dense computations."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vebnn.core.types import Dataset, NoisyDataset
from vebnn.inference import Laplace, gauss_newton
from vebnn.inference.gauss_newton import GaussNewton
from vebnn.likelihoods.heads import MeanVariance
from vebnn.likelihoods.log_likelihoods import GaussianNoiseGiven, MeanAndNoise
from vebnn.networks import GRU, MLP, build_networks


def one(recipe, in_shape: tuple[int, ...], outputs: int, **steps):
    networks = build_networks(recipe, in_shape, outputs, jax.random.key(1)[None], **steps)
    return Laplace()._linearised(jax.tree.map(lambda leaf: leaf[0], networks))


def some_rows(shape: tuple[int, ...], num_rows: int, outputs: int) -> NoisyDataset:
    rng = np.random.default_rng(0)
    target = (num_rows, *shape[:-1], outputs)
    parts = (
        rng.standard_normal((num_rows, *shape)),
        rng.standard_normal(target),
        rng.choice([0.0, 1.0, 2.0], target),
        rng.uniform(0.1, 2, target),
    )
    return NoisyDataset(*(part.astype(np.float32) for part in parts))


def dense(linear, data: NoisyDataset) -> np.ndarray:
    """Return JᵀΣ⁻¹J, with the Jacobian of all rows at once."""

    def outputs(values: jax.Array) -> jax.Array:
        return jax.vmap(lambda x: linear.outputs(values, x))(data.x).ravel()

    jacobian = np.asarray(jax.jacobian(outputs)(linear.values()), float)
    return jacobian.T @ (jacobian * np.ravel(data.weight / data.noise_variance)[:, None])


@pytest.mark.parametrize("num_rows", [7, 60])  # fewer outputs than parameters, and more
@pytest.mark.parametrize("most_entries", [2**24, 500])
def test_matrix_of_given_noise_is_the_dense_one(num_rows: int, most_entries: int, monkeypatch) -> None:
    monkeypatch.setattr(gauss_newton, "MOST_ENTRIES", most_entries)
    linear, data = one(MLP((5,), "tanh"), (3,), 2), some_rows((3,), num_rows, 2)
    values, vectors = GaussNewton.of_rows(GaussianNoiseGiven(), linear, data)
    expected = dense(linear, data)
    assert vectors.shape == (linear.values().size, len(values))
    np.testing.assert_allclose((vectors * values) @ vectors.T, expected, atol=1e-5 * expected.max())


def test_matrix_of_sequences_is_the_dense_one() -> None:
    linear = one(GRU((3,)), (6, 2), 2, steps=(6,))
    data = some_rows((6, 2), 5, 2)
    values, vectors = GaussNewton.of_rows(GaussianNoiseGiven(), linear, data)
    expected = dense(linear, data)
    np.testing.assert_allclose((vectors * values) @ vectors.T, expected, atol=1e-5 * expected.max())


def test_negative_curvature_of_learned_noise_counts_as_zero() -> None:
    """Each row's Hessian in the outputs is built by hand, entry by entry."""
    linear, data = one(MLP((3,), "tanh"), (2,), 2), some_rows((2,), 40, 1)
    data = Dataset(*data)
    head = MeanVariance(np.float32(0))
    matrix = np.zeros((linear.values().size,) * 2)
    negative = 0
    for x, target, weight, known in zip(*data, strict=True):

        def score(raw, target=target, weight=weight, known=known):
            return jnp.sum(weight * head.objective(raw, target, known))

        hessian = -np.asarray(jax.hessian(score)(linear.outputs(linear.values(), x)), float)
        values, vectors = np.linalg.eigh(hessian)
        negative += int((values < 0).any())
        hessian = (vectors * np.maximum(values, 0)) @ vectors.T
        jacobian = np.asarray(jax.jacobian(linear.outputs)(linear.values(), x), float)
        matrix += jacobian.T @ hessian @ jacobian
    assert negative > 0
    values, vectors = GaussNewton.of_rows(MeanAndNoise(head), linear, data)
    np.testing.assert_allclose((vectors * values) @ vectors.T, matrix, atol=1e-4 * matrix.max())


def test_evidence_of_a_linear_model_is_the_closed_form(linear) -> None:
    """log N(y | 0, ΦΦᵀ/κ + Σ), where θ is the mode for this κ."""
    seen = linear.data.weight[:, 0] > 0
    design = np.column_stack([linear.data.x, np.ones(len(seen))])[seen].astype(float)
    target = linear.data.target[seen, 0].astype(float)
    variance = linear.data.noise_variance[seen, 0].astype(float)
    matrix = (design.T / variance) @ design
    curvature = GaussNewton(*np.linalg.eigh(matrix))
    for precision in (0.3, 5.0):
        mode = np.linalg.solve(matrix + precision * np.eye(3), design.T @ (target / variance))
        residual = target - design @ mode
        fit = -0.5 * np.sum(np.log(2 * np.pi * variance) + residual**2 / variance)
        covariance = design @ design.T / precision + np.diag(variance)
        _, log_determinant = np.linalg.slogdet(2 * np.pi * covariance)
        expected = -0.5 * (log_determinant + target @ np.linalg.solve(covariance, target))
        np.testing.assert_allclose(fit + curvature.log_evidence(mode, precision), expected, rtol=1e-9)


def test_the_best_precision_has_the_largest_evidence() -> None:
    rng = np.random.default_rng(0)
    curvature = GaussNewton(10.0 ** rng.uniform(-3, 4, 30), np.zeros((50, 30)))
    values = rng.standard_normal(50)
    best = curvature.best_precision(values)
    here = curvature.log_evidence(values, best)
    for factor in (0.1, 0.9, 1.1, 10.0):
        assert curvature.log_evidence(values, factor * best) < here
    np.testing.assert_allclose(best * np.sum(values**2), curvature.effective_parameters(best))


def test_draws_have_the_covariance_of_the_posterior(key: jax.Array) -> None:
    root = np.random.default_rng(0).standard_normal((2, 4))
    values, vectors = np.linalg.eigh(root.T @ root)
    curvature = GaussNewton(values[2:], vectors[:, 2:])  # rank 2: the prior fills the other two
    draws = curvature.draw(key, 20_000, 0.7)
    covariance = np.linalg.inv(root.T @ root + 0.7 * np.eye(4))
    np.testing.assert_allclose(np.cov(draws.T, bias=True), covariance, atol=0.05)
