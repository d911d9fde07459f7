import equinox as eqx
import jax
import numpy as np
import pytest

from vebnn.inference.evaluation import BLOCK_ROWS, evaluate, evaluate_draws, moments, pool_chains
from vebnn.networks import MLP, build_networks


@pytest.fixture(scope="module")
def draws():
    return build_networks(MLP((6,), "tanh"), (2,), 3, jax.random.split(jax.random.key(0), 5))


@pytest.mark.parametrize("num_rows", [1, BLOCK_ROWS, BLOCK_ROWS + 1, 2 * BLOCK_ROWS + 5])
def test_moments_are_those_of_the_draws(draws, num_rows: int, rng: np.random.Generator) -> None:
    params, skeleton = draws
    x = rng.standard_normal((num_rows, 2)).astype(np.float32)
    outputs = np.asarray(evaluate_draws(params, x), float)
    assert outputs.shape == (5, num_rows, 3)
    mean, variance = moments(params, x)
    np.testing.assert_allclose(mean, outputs.mean(0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(variance, outputs.var(0), rtol=1e-3, atol=1e-6)
    # Row by row, by hand: blocks must neither mix nor drop rows.
    weights, biases = (
        [np.asarray(part, float) for part in parts] for parts in (params.weights, params.biases)
    )
    for draw in (0, 4):
        hidden = np.tanh(x @ weights[0][draw].T + biases[0][draw])
        expected = hidden @ weights[1][draw].T + biases[1][draw]
        np.testing.assert_allclose(outputs[draw], expected, rtol=1e-3, atol=1e-4)


def test_one_network_is_the_first_draw(draws, rng: np.random.Generator) -> None:
    params, skeleton = draws
    x = rng.standard_normal((BLOCK_ROWS + 3, 2)).astype(np.float32)
    first = jax.tree.map(lambda leaf: leaf[0], params)
    outputs = evaluate_draws(params, x)
    np.testing.assert_allclose(evaluate(first, x), outputs[0], rtol=1e-5, atol=1e-6)


def test_one_draw_has_no_variance(draws, rng: np.random.Generator) -> None:
    params, skeleton = draws
    x = rng.standard_normal((4, 2)).astype(np.float32)
    one = jax.tree.map(lambda leaf: leaf[:1], params)
    np.testing.assert_array_equal(moments(one, x).variance, 0)


def test_variance_survives_a_large_mean(rng: np.random.Generator) -> None:
    # The mean of squares minus the square of the mean would lose all digits here.
    class Constant(eqx.Module):
        level: jax.Array

        def __call__(self, x: jax.Array) -> jax.Array:
            return self.level

    levels = (1e4 + rng.standard_normal((50, 1))).astype(np.float32)
    params, skeleton = eqx.partition(Constant(levels), eqx.is_array)
    variance = moments(params, np.zeros((3, 2), np.float32)).variance
    np.testing.assert_allclose(variance[:, 0], levels.astype(float).var(), rtol=1e-2)


def test_pool_chains() -> None:
    leaf = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(pool_chains({"a": leaf})["a"], leaf.reshape(6, 4))
