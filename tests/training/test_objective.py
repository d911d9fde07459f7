import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.support.linear import flatten
from vebnn.core.types import NoisyDataset
from vebnn.networks import Network
from vebnn.training import NegativeLogLikelihood
from vebnn.training.batches import all_rows, batch_shape, pad_rows, shuffled_batches, take


@pytest.mark.parametrize("batch_size", [7, 20, 100])
def test_mean_of_mini_batch_gradients_is_the_full_gradient(
    linear, batch_size: int, key: jax.Array
) -> None:
    # 61 rows never divide evenly, so the last batch is padded; weights are 0, 1 and 2.
    network = jax.tree.map(lambda leaf: leaf[0], linear.starts)
    num_batches, _ = batch_shape(61, batch_size)
    gradient = jax.grad(linear.objective)

    @jax.jit
    def both(network: Network, data: NoisyDataset) -> tuple[Network, Network]:
        batches = shuffled_batches(key, data, all_rows(61)[0], batch_size)
        small = jax.vmap(lambda batch: gradient(network, batch, num_batches))(batches)
        return small, gradient(network, data, 1)

    small, full = both(network, linear.data)
    for ours, expected in zip(jax.tree.leaves(small), jax.tree.leaves(full), strict=True):
        np.testing.assert_allclose(np.mean(ours, axis=0), expected, rtol=1e-4)


def test_gradient_vanishes_at_the_closed_form_mode(linear) -> None:
    network = jax.tree.map(lambda leaf: leaf[0], linear.starts)
    mode = eqx.tree_at(
        lambda net: (net.weights.weights, net.weights.biases),
        network,
        ([linear.mean[None, :2].astype(np.float32)], [linear.mean[2:].astype(np.float32)]),
    )
    gradient = jax.jit(jax.grad(lambda network: linear.objective(network, linear.data, 1)))(mode)
    for leaf in jax.tree.leaves(gradient):
        np.testing.assert_allclose(leaf, 0, atol=1e-3)


def test_monitor_is_a_weighted_mean(linear) -> None:
    network = jax.tree.map(lambda leaf: leaf[0], linear.starts)
    monitor = NegativeLogLikelihood(linear.objective.log_likelihood)
    slopes, intercept = flatten(network)[:2], flatten(network)[2]
    residual = linear.data.target - (linear.data.x @ slopes[:, None] + intercept)
    variance = linear.data.noise_variance
    density = 0.5 * (np.log(2 * np.pi * variance) + residual**2 / variance)
    expected = np.average(density, weights=linear.data.weight)
    np.testing.assert_allclose(eqx.filter_jit(monitor)(network, linear.data), expected, rtol=1e-5)
    # Padding changes nothing.
    padded = take(jax.tree.map(jnp.asarray, linear.data), pad_rows([np.arange(61), np.arange(70)])[0])
    np.testing.assert_allclose(eqx.filter_jit(monitor)(network, padded), expected, rtol=1e-5)
