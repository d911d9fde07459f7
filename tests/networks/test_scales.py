"""Prior scales that are learned: what a weight is, and what its prior means for the function."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.support.networks import drawn_from_prior
from vebnn import GRU, MLP
from vebnn.networks import build_networks
from vebnn.networks.scales import BIAS_SPREAD, INPUT_SPREAD, LAYER_SPREAD


def test_outputs_by_hand():
    recipe = MLP(
        (4, 3),
        "tanh",
        prior="learned",
        linear=True,
        skip=True,
        output_scale=0.6,
        input_spread=2.0,
        shared_input_spread=1.5,
    )
    network = drawn_from_prior(recipe, (2,), 2)
    x = np.array([0.3, -1.2])
    scales = network.scales
    s = np.exp(2.0 * np.asarray(scales.inputs) + 1.5 * np.asarray(scales.shared))
    t = np.exp(LAYER_SPREAD * np.asarray(scales.layers))
    u = np.exp(BIAS_SPREAD * np.asarray(scales.biases))
    w, b = [np.asarray(one) for one in network.weights], [np.asarray(one) for one in network.biases]
    first = np.tanh(t[0] / np.sqrt(2) * w[0] @ (s * x) + u[0] * b[0])
    h = np.tanh(t[1] / np.sqrt(4) * w[1] @ first + u[1] * b[1])
    expected = 0.6 * t[2] / np.sqrt(3) * w[2] @ h + u[2] * b[2]
    expected += 0.6 * t[4] / np.sqrt(4) * np.asarray(network.skips[0]) @ first
    expected += t[3] / np.sqrt(2) * np.asarray(network.linear) @ (s * x)
    np.testing.assert_allclose(network(jnp.asarray(x)), expected, rtol=1e-5)


@pytest.mark.parametrize(("inputs", "width"), [(1, 20), (40, 20), (5, 200)])
def test_the_prior_of_functions_has_the_same_size_whatever_the_network(inputs, width):
    recipe = MLP((width, width), "tanh", prior="learned")
    x = jax.random.normal(jax.random.key(9), (inputs,))
    outputs = [float(drawn_from_prior(recipe, (inputs,), 1, seed)(x)[0]) for seed in range(200)]
    assert 0.5 < np.median(np.abs(outputs)) < 2


def test_an_input_whose_scale_is_small_has_no_influence():
    network = drawn_from_prior(MLP((6,), prior="learned", linear=True), (3,), 1)
    network = eqx.tree_at(lambda one: one.scales.inputs, network, jnp.array([0.0, -30.0, 1.0]))
    slope = jax.grad(lambda x: network(x)[0])(jnp.array([0.5, 0.5, 0.5]))
    assert abs(slope[1]) < 1e-8 < min(abs(slope[0]), abs(slope[2]))


def test_inputs_share_a_scale_if_the_recipe_says_so():
    alone, sharing = (
        drawn_from_prior(MLP((3,), prior="learned", shared_input_spread=spread), (4,), 1).scales
        for spread in (0.0, 2.0)
    )
    assert alone.shared is None
    sharing = eqx.tree_at(lambda one: one.shared, sharing, jnp.array(0.5))
    np.testing.assert_allclose(sharing.of_inputs, np.exp(sharing.inputs + 2.0 * 0.5), rtol=1e-6)
    stacked = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), sharing)
    np.testing.assert_allclose(stacked.of_inputs, np.stack([sharing.of_inputs] * 2))  # of two draws


def test_scales_start_at_one_so_that_the_start_is_that_of_fixed_scales():
    key = jax.random.key(3)
    learned, unit = (
        MLP((7, 5), "silu", prior=prior).build((4,), 1, key=key) for prior in ("learned", "unit")
    )
    for mine, theirs, fan_in in zip(learned.weights, unit.weights, (4, 7, 5), strict=True):
        np.testing.assert_allclose(mine / np.sqrt(fan_in), theirs, rtol=1e-6)
    assert all((np.asarray(leaf) == 0).all() for leaf in jax.tree.leaves(learned.scales))


def test_a_linear_part_adds_to_the_outputs():
    network = MLP((3,), linear=True).build((2,), 1, key=jax.random.key(0))
    with_slope = eqx.tree_at(lambda one: one.linear, network, jnp.array([[2.0, -1.0]]))
    x = jnp.array([0.4, 0.7])
    np.testing.assert_allclose(with_slope(x) - network(x), 2 * 0.4 - 0.7, rtol=1e-5)


def test_skip_connections_lead_from_every_hidden_layer_but_the_last_to_the_outputs():
    recipes = (MLP((3, 4, 5), "tanh", skip=skip) for skip in (False, True))
    plain, network = (recipe.build((2,), 1, key=jax.random.key(0)) for recipe in recipes)
    x = jnp.array([0.4, 0.7])
    np.testing.assert_array_equal(network(x), plain(x))  # they start at zero
    assert [weight.shape for weight in network.skips] == [(1, 3), (1, 4)]
    network = eqx.tree_at(lambda one: one.skips, network, [jnp.full((1, 3), 2.0), -jnp.ones((1, 4))])
    h = [x]
    for weight, bias in zip(plain.weights, plain.biases, strict=True):
        h.append(jnp.tanh(weight @ h[-1] + bias))
    np.testing.assert_allclose(network(x) - plain(x), 2 * h[1].sum() - h[2].sum(), rtol=1e-4)


def test_the_linear_part_of_a_recurrent_network_has_scales_of_its_own():
    network = drawn_from_prior(GRU((3,), prior="learned", linear=True), (4, 2), 1)
    without = eqx.tree_at(lambda one: one.linear, network, jnp.zeros((2, 1)))
    x = np.random.default_rng(0).normal(size=(4, 2)).astype(np.float32)
    s = np.exp(INPUT_SPREAD * np.asarray(network.scales.inputs))
    t = np.exp(LAYER_SPREAD * np.asarray(network.scales.linear))
    expected = (s * x) @ np.asarray(network.linear) * t / np.sqrt(2)
    np.testing.assert_allclose(network(x) - without(x), expected, rtol=1e-4, atol=1e-6)


def test_an_unknown_prior_is_refused():
    with pytest.raises(ValueError, match="prior"):
        MLP((5,), prior="horseshoe")


def test_networks_with_scales_stack():
    keys = jax.random.split(jax.random.key(0), 3)
    stacked = build_networks(MLP((5,), prior="learned", linear=True), (4,), 2, keys)
    assert stacked.weights.scales.inputs.shape == (3, 4)
