"""Prior scales of gated recurrent units: what a weight is, and what its prior means."""

from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.networks.test_gru import by_hand
from tests.support.networks import drawn_from_prior
from vebnn import GRU
from vebnn.networks import build_networks
from vebnn.networks.scales import BIAS_SPREAD, INPUT_SPREAD, LAYER_SPREAD


@pytest.fixture
def x(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(7, 3)).astype(np.float32)


def scaled_by_hand(network) -> SimpleNamespace:
    """Return the weights of a network without scales that computes the same function."""
    scales = jax.tree.map(lambda leaf: np.asarray(leaf, float), network.scales)
    layers = []
    for n, layer in enumerate(network.layers):
        W, U = np.asarray(layer.input_weight, float), np.asarray(layer.hidden_weight, float)
        units = len(U)
        for gate in range(3):
            here = slice(gate * units, (gate + 1) * units)
            W[:, here] *= np.exp(LAYER_SPREAD * scales.from_below[n, gate]) / np.sqrt(len(W))
            U[:, here] *= np.exp(LAYER_SPREAD * scales.from_state[n, gate]) / np.sqrt(units)
        if n == 0:
            W = np.diag(np.exp(INPUT_SPREAD * scales.inputs)) @ W
        u = np.exp(BIAS_SPREAD * scales.biases[n])
        bias, candidate_bias = u * np.asarray(layer.bias), u * np.asarray(layer.candidate_bias)
        one = {"input_weight": W, "hidden_weight": U, "bias": bias, "candidate_bias": candidate_bias}
        layers.append(SimpleNamespace(**one))
    weight, bias = np.asarray(network.output_weight, float), np.asarray(network.output_bias, float)
    return SimpleNamespace(
        layers=layers,
        output_weight=weight * np.exp(LAYER_SPREAD * scales.outputs) / np.sqrt(len(weight)),
        output_bias=bias * np.exp(BIAS_SPREAD * scales.biases[-1]),
        linear=None,
    )


@pytest.mark.parametrize("widths", [(6,), (5, 4)])
def test_outputs_by_hand(widths: tuple, x: np.ndarray) -> None:
    network = drawn_from_prior(GRU(widths, prior="learned"), (7, 3), 2)
    np.testing.assert_allclose(network(x), by_hand(scaled_by_hand(network), x), rtol=1e-4, atol=1e-5)


def test_every_scale_has_an_effect_of_its_own(x: np.ndarray) -> None:
    network = drawn_from_prior(GRU((5, 4), prior="learned"), (7, 3), 2)
    place = lambda one: one.scales  # noqa: E731
    outputs = lambda scales: eqx.tree_at(place, network, scales)(x).ravel()  # noqa: E731
    slopes = jax.tree.leaves(jax.jacobian(outputs)(network.scales))
    matrix = np.concatenate([slope.reshape(14, -1) for slope in slopes], axis=1)
    # Of inputs, of two layers from below and from their state, of outputs, and biases.
    assert matrix.shape[1] == 3 + 6 + 6 + 1 + 3
    assert (np.abs(matrix).max(0) > 1e-4).all()


@pytest.mark.parametrize(("features", "width"), [(1, 10), (30, 10), (5, 100)])
def test_the_prior_of_functions_has_the_same_size_whatever_the_network(features, width):
    recipe = GRU((width, width), prior="learned")
    x = jax.random.normal(jax.random.key(9), (6, features))
    networks = [drawn_from_prior(recipe, (6, features), 1, seed) for seed in range(100)]
    stacked = jax.tree.map(
        lambda *leaves: jnp.stack(leaves), *(eqx.filter(n, eqx.is_array) for n in networks)
    )
    rest = eqx.filter(networks[0], eqx.is_array, inverse=True)
    outputs = jax.vmap(lambda weights: eqx.combine(weights, rest)(x)[-1, 0])(stacked)
    assert 0.5 < np.median(np.abs(outputs)) < 2


def test_a_feature_whose_scale_is_small_has_no_influence(x: np.ndarray) -> None:
    network = drawn_from_prior(GRU((6,), prior="learned"), (7, 3), 1)
    network = eqx.tree_at(lambda one: one.scales.inputs, network, jnp.array([0.0, -30.0, 1.0]))
    slope = np.abs(jax.grad(lambda some: network(some)[-1, 0])(jnp.asarray(x))).max(0)
    assert slope[1] < 1e-8 < min(slope[0], slope[2])


def test_the_start_is_that_of_fixed_scales(x: np.ndarray, key: jax.Array) -> None:
    learned, unit = (
        GRU((8, 5), prior=prior).build((7, 3), 2, key=key) for prior in ("learned", "unit")
    )
    np.testing.assert_allclose(learned(x), unit(x), rtol=1e-4, atol=1e-6)
    assert all((np.asarray(leaf) == 0).all() for leaf in jax.tree.leaves(learned.scales))
    mine, theirs = scaled_by_hand(learned), unit
    for one, other in zip(mine.layers, theirs.layers, strict=True):
        for name in ("input_weight", "hidden_weight", "bias", "candidate_bias"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-5)


def test_unit_is_the_default_and_has_no_scales(key: jax.Array) -> None:
    assert GRU((4,)) == GRU((4,), prior="unit")
    assert GRU((4,)).build((7, 3), 2, key=key).scales is None


def test_weights_are_scaled_once_for_all_sequences_and_steps(key: jax.Array) -> None:
    network = drawn_from_prior(GRU((4, 4), prior="learned"), (7, 3), 1)
    program = jax.make_jaxpr(jax.vmap(network))(np.zeros((50, 7, 3), np.float32)).jaxpr
    (loop,) = (one for one in program.eqns if one.primitive.name == "scan")
    assert "exp" not in {one.primitive.name for one in loop.params["jaxpr"].jaxpr.eqns}
    products = [one.outvars[0].aval.shape for one in program.eqns if one.primitive.name == "mul"]
    assert products
    assert all(50 not in shape for shape in products)


def test_an_unknown_prior_is_refused() -> None:
    with pytest.raises(ValueError, match=r"The `prior` must be .* Got 'horseshoe'"):
        GRU((5,), prior="horseshoe")


def test_networks_with_scales_stack() -> None:
    keys = jax.random.split(jax.random.key(0), 3)
    stacked = build_networks(GRU((5,), prior="learned"), (7, 4), 2, keys, steps=(7,))
    assert stacked.weights.scales.inputs.shape == (3, 4)
