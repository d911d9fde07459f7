"""The gated recurrent unit, against one written with loops and one matrix per gate."""

import equinox as eqx
import jax
import numpy as np
import pytest
from scipy.special import expit

from vebnn import GRU
from vebnn.networks import build_networks


def by_hand(network, x: np.ndarray) -> np.ndarray:
    """The equations of the docstring, step by step, gate by gate, in double precision."""
    sequence = [np.asarray(row, float) for row in x]
    for layer in network.layers:
        W, U = np.asarray(layer.input_weight, float), np.asarray(layer.hidden_weight, float)
        W_r, W_z, W_n = np.hsplit(W, 3)
        U_r, U_z, U_n = np.hsplit(U, 3)
        b_r, b_z, b_n = np.split(np.asarray(layer.bias, float), 3)
        c_n = np.asarray(layer.candidate_bias, float)
        h, states = np.zeros(len(U)), []
        for value in sequence:
            r = expit(W_r.T @ value + b_r + U_r.T @ h)
            z = expit(W_z.T @ value + b_z + U_z.T @ h)
            n = np.tanh(W_n.T @ value + b_n + r * (U_n.T @ h + c_n))
            h = (1 - z) * n + z * h
            states.append(h)
        sequence = states
    weight, bias = np.asarray(network.output_weight, float), np.asarray(network.output_bias, float)
    linear = 0 if network.linear is None else x @ np.asarray(network.linear, float)
    return np.array(sequence) @ weight + bias + linear


@pytest.fixture
def x(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(9, 3)).astype(np.float32)


@pytest.mark.parametrize("widths", [(6,), (7, 5), (4, 6, 5)])
def test_equals_an_implementation_with_loops(widths: tuple, x: np.ndarray, key: jax.Array) -> None:
    network = GRU(widths).build((9, 3), 2, key=key)
    outputs = network(x)
    assert outputs.shape == (9, 2)
    np.testing.assert_allclose(outputs, by_hand(network, x), rtol=1e-4, atol=1e-6)


def test_the_linear_part_is_added_to_the_outputs(
    x: np.ndarray, key: jax.Array, rng: np.random.Generator
) -> None:
    fresh = GRU((6,), linear=True).build((9, 3), 2, key=key)
    np.testing.assert_array_equal(fresh(x), GRU((6,)).build((9, 3), 2, key=key)(x))  # starts at 0
    network = eqx.tree_at(lambda net: net.linear, fresh, rng.normal(size=(3, 2)).astype(np.float32))
    np.testing.assert_allclose(network(x), by_hand(network, x), rtol=1e-4, atol=1e-6)


def test_many_sequences_are_the_same_as_one_by_one(rng: np.random.Generator, key: jax.Array) -> None:
    network = GRU((5, 4)).build((6, 2), 3, key=key)
    x = rng.normal(size=(4, 6, 2)).astype(np.float32)
    np.testing.assert_allclose(jax.vmap(network)(x), [network(one) for one in x], rtol=1e-5, atol=1e-6)


def test_no_output_knows_the_future(x: np.ndarray, key: jax.Array) -> None:
    network = GRU((5, 4)).build((9, 3), 2, key=key)
    other = x.copy()
    other[6:] = 1e6
    np.testing.assert_array_equal(network(x)[:6], network(other)[:6])
    np.testing.assert_allclose(network(x)[:4], network(x[:4]), rtol=1e-5, atol=1e-6)
    other[2] += 1
    assert (np.asarray(network(x)[2:] != network(other)[2:])).all()


def test_start_is_uniform_within_one_over_root_units(key: jax.Array) -> None:
    network = GRU((100, 64)).build((50, 4), 30, key=key)
    by_layer = [(layer, width) for layer, width in zip(network.layers, (100, 64), strict=True)]
    arrays = [(leaf, width) for layer, width in by_layer for leaf in jax.tree.leaves(layer)]
    arrays += [(network.output_weight, 64), (network.output_bias, 64)]
    assert len(arrays) == 10
    for array, width in arrays:
        assert np.abs(array).max() <= width**-0.5
        # A uniform distribution on ±b has the variance b²/3.
        np.testing.assert_allclose(np.var(array) * width * 3, 1, atol=5 / np.sqrt(np.size(array)))


def test_one_mask_serves_all_steps(x: np.ndarray, key: jax.Array) -> None:
    network = GRU((12,), dropout_rate=0.25).build((9, 3), 12, key=key)
    where = lambda net: (net.output_weight, net.output_bias)  # noqa: E731
    states = eqx.tree_at(where, network, (np.eye(12, dtype=np.float32), np.zeros(12, np.float32)))
    ratios = states(x, key=jax.random.key(1)) / states(x)
    np.testing.assert_allclose(ratios, np.tile(ratios[0], (9, 1)), rtol=1e-5)
    # What is kept is made larger, so that the mean stays.
    assert set(np.round(np.asarray(ratios[0]), 4)) == {0.0, np.float32(1.3333)}
    assert not np.allclose(states(x, key=jax.random.key(2)), states(x, key=jax.random.key(1)))


def test_keys_make_different_networks() -> None:
    keys = jax.random.split(jax.random.key(0), 2)
    networks = build_networks(GRU((4,)), (5, 3), 1, keys, steps=(5,))
    for leaf in jax.tree.leaves(networks):
        assert not np.allclose(leaf[0], leaf[1])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"widths": 50}, r"The `widths` of GRU must be a tuple .* Got 50\."),
        ({"widths": ()}, r"at least one positive integer such as \(64, 64\)\. Got \(\)\."),
        ({"widths": (8, 0)}, r"The `widths` of GRU must be .* Got \(8, 0\)\."),
        ({"dropout_rate": 1.0}, r"The `dropout_rate` must be a number in \[0, 1\)\. Got 1\.0\."),
    ],
)
def test_bad_arguments(settings: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        GRU(**settings)


def test_a_table_is_no_sequence(key: jax.Array) -> None:
    with pytest.raises(ValueError, match=r"X of shape \(rows, time, features\)\. Got .* \(3,\); for a"):
        GRU((4,)).build((3,), 1, key=key)


def test_lists_become_tuples() -> None:
    assert GRU([8, 8]) == GRU((8, 8))
    assert hash(GRU([8, 8])) == hash(GRU((8, 8)))
