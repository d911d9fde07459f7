import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vebnn.core.types import Dataset, Params
from vebnn.training import NegativeLogLikelihood
from vebnn.training.batches import all_rows, batch_shape, pad_rows, shuffled_batches, take


@pytest.mark.parametrize("batch_size", [7, 20, 100])
def test_mean_of_mini_batch_gradients_is_the_full_gradient(
    linear, batch_size: int, key: jax.Array
) -> None:
    # 61 rows never divide evenly, so the last batch is padded; weights are 0, 1 and 2.
    params = jax.tree.map(lambda leaf: leaf[0], linear.starts)
    num_batches, _ = batch_shape(61, batch_size)
    gradient = jax.grad(linear.objective)

    @jax.jit
    def both(params: Params, data: Dataset) -> tuple[Params, Params]:
        batches = shuffled_batches(key, data, all_rows(61)[0], batch_size)
        small = jax.vmap(lambda batch: gradient(params, batch, num_batches))(batches)
        return small, gradient(params, data, 1)

    small, full = both(params, linear.data)
    for ours, expected in zip(jax.tree.leaves(small), jax.tree.leaves(full), strict=True):
        np.testing.assert_allclose(np.mean(ours, axis=0), expected, rtol=1e-4)


def test_gradient_vanishes_at_the_closed_form_mode(linear) -> None:
    params = jax.tree.map(lambda leaf: leaf[0], linear.starts)
    mode = params.__class__(
        [linear.mean[None, :2].astype(np.float32)],
        [linear.mean[2:].astype(np.float32)],
        params.dropout_rates,
        params.activation,
    )
    gradient = jax.jit(jax.grad(lambda params: linear.objective(params, linear.data, 1)))(mode)
    for leaf in jax.tree.leaves(gradient):
        np.testing.assert_allclose(leaf, 0, atol=1e-3)


def test_monitor_is_a_weighted_mean(linear) -> None:
    params = jax.tree.map(lambda leaf: leaf[0], linear.starts)
    monitor = NegativeLogLikelihood(linear.objective.log_likelihood)
    residual = linear.data.target - (linear.data.x @ params.weights[0].T + params.biases[0][None])
    density = 0.5 * (np.log(2 * np.pi * linear.data.variance) + residual**2 / linear.data.variance)
    expected = np.average(density, weights=linear.data.weight)
    np.testing.assert_allclose(eqx.filter_jit(monitor)(params, linear.data), expected, rtol=1e-5)
    # Rows that stand for nothing change nothing.
    padded = take(jax.tree.map(jnp.asarray, linear.data), pad_rows([np.arange(61), np.arange(70)])[0])
    np.testing.assert_allclose(eqx.filter_jit(monitor)(params, padded), expected, rtol=1e-5)
