import equinox as eqx
import jax
import numpy as np
import pytest

from vebnn.core.blocks import BLOCK_ROWS
from vebnn.core.types import Dataset
from vebnn.inference.evaluation import (
    MOST_PROBES,
    Shared,
    evaluate,
    evaluate_draws,
    mask_padding,
    moments,
    pad_to_bucket,
    pool_chains,
    probe_rows,
)
from vebnn.networks import MLP, build_networks


@pytest.fixture(scope="module")
def draws():
    return build_networks(MLP((6,), "tanh"), (2,), 3, jax.random.split(jax.random.key(0), 5))


@pytest.mark.parametrize("num_rows", [1, BLOCK_ROWS, BLOCK_ROWS + 1, 2 * BLOCK_ROWS + 5])
def test_moments_are_those_of_the_draws(draws, num_rows: int, rng: np.random.Generator) -> None:
    x = rng.standard_normal((num_rows, 2)).astype(np.float32)
    outputs = np.asarray(evaluate_draws(draws, x), float)
    assert outputs.shape == (5, num_rows, 3)
    mean, variance = moments(draws, x)
    np.testing.assert_allclose(mean, outputs.mean(0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(variance, outputs.var(0), rtol=1e-3, atol=1e-6)
    # Row by row, by hand: blocks must neither mix nor drop rows.
    weights, biases = (
        [np.asarray(part, float) for part in parts]
        for parts in (draws.weights.weights, draws.weights.biases)
    )
    for draw in (0, 4):
        hidden = np.tanh(x @ weights[0][draw].T + biases[0][draw])
        expected = hidden @ weights[1][draw].T + biases[1][draw]
        np.testing.assert_allclose(outputs[draw], expected, rtol=1e-3, atol=1e-4)


def test_large_tables_are_evaluated_in_pieces(draws, monkeypatch, rng: np.random.Generator) -> None:
    x = rng.standard_normal((5 * BLOCK_ROWS + 5, 2)).astype(np.float32)
    whole, outputs = moments(draws, x), evaluate_draws(draws, x)
    monkeypatch.setattr("vebnn.inference.evaluation.LARGE", BLOCK_ROWS)
    monkeypatch.setattr("vebnn.inference.evaluation.PIECE_BLOCKS_OF_NARROW", 2)
    for part, same in zip(moments(draws, x), whole, strict=True):
        np.testing.assert_allclose(part, same, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(evaluate_draws(draws, x), outputs, rtol=1e-5, atol=1e-6)


def test_one_network_is_the_first_draw(draws, rng: np.random.Generator) -> None:
    x = rng.standard_normal((BLOCK_ROWS + 3, 2)).astype(np.float32)
    first = jax.tree.map(lambda leaf: leaf[0], draws)
    outputs = evaluate_draws(draws, x)
    np.testing.assert_allclose(evaluate(first, x), outputs[0], rtol=1e-5, atol=1e-6)


def test_one_draw_has_no_variance(draws, rng: np.random.Generator) -> None:
    x = rng.standard_normal((4, 2)).astype(np.float32)
    one = jax.tree.map(lambda leaf: leaf[:1], draws)
    np.testing.assert_array_equal(moments(one, x).variance, 0)


def test_variance_survives_a_large_mean(rng: np.random.Generator) -> None:
    # The mean of squares minus the square of the mean would lose all digits here.
    class Constant(eqx.Module):
        level: jax.Array

        def __call__(self, x: jax.Array) -> jax.Array:
            return self.level

    levels = (1e4 + rng.standard_normal((50, 1))).astype(np.float32)
    variance = moments(Constant(levels), np.zeros((3, 2), np.float32)).variance
    np.testing.assert_allclose(variance[:, 0], levels.astype(float).var(), rtol=1e-2)


def test_pool_chains() -> None:
    leaf = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(pool_chains({"a": leaf})["a"], leaf.reshape(6, 4))


class Scaled(eqx.Module):
    """A network that all draws have in common, with a factor for each draw."""

    network: eqx.Module
    factor: jax.Array

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.factor * self.network(x)


def test_a_shared_part_has_no_axis_of_draws(draws, rng: np.random.Generator) -> None:
    x = rng.standard_normal((7, 2)).astype(np.float32)
    one = jax.tree.map(lambda leaf: leaf[0], draws)
    factors = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]], np.float32)  # (chains, draws)
    pooled = pool_chains(Scaled(Shared(one), factors))
    np.testing.assert_array_equal(pooled.factor, factors.ravel())
    jax.tree.map(np.testing.assert_array_equal, pooled.network.value, one)
    expected = factors.reshape(6, 1, 1) * evaluate(one, x)
    np.testing.assert_allclose(evaluate_draws(pooled, x), expected, rtol=1e-5, atol=1e-6)
    mean, variance = moments(pooled, x)
    np.testing.assert_allclose(mean, expected.mean(0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(variance, expected.var(0), rtol=1e-4, atol=1e-6)


def test_probes_have_a_target_that_counts_and_are_not_too_many() -> None:
    size = 4 * MOST_PROBES
    weight = np.tile([[0.0, 0.0], [0.0, 1.0]], (size // 2, 1))
    found = probe_rows(Dataset(np.zeros((size, 1)), weight, weight, weight))
    assert len(found) == MOST_PROBES
    assert (found % 2 == 1).all()
    assert (found[0], found[-1]) == (1, size - 1)
    few = Dataset(np.zeros((4, 1)), *[weight[:4]] * 3)
    np.testing.assert_array_equal(probe_rows(few), [1, 3])


def test_padding_is_masked_with_nan(rng: np.random.Generator) -> None:
    weight = np.array([[[1.0], [0.0]], [[2.0], [0.5]]])  # (rows, time, outputs)
    outputs = rng.normal(size=(3, 2, 2, 1)).astype(np.float32)  # (draws, rows, time, outputs)
    found = mask_padding(outputs, weight)
    assert np.isnan(found[:, 0, 1]).all()
    kept = ~np.isnan(found)
    assert kept.sum() == 9
    np.testing.assert_array_equal(found[kept], outputs[kept])


@pytest.mark.parametrize("num_rows", [1, 3, 4, BLOCK_ROWS, BLOCK_ROWS + 1, 5 * BLOCK_ROWS])
def test_a_bucket_keeps_the_rows_and_adds_zeros(num_rows: int) -> None:
    x = np.ones((num_rows, 2, 3), np.float32)
    padded = pad_to_bucket(x)
    assert num_rows <= len(padded) <= max(2 * num_rows, 1)
    np.testing.assert_array_equal(padded[:num_rows], x)
    assert not padded[num_rows:].any()
