from dataclasses import replace

import equinox as eqx
import jax
import numpy as np
import pytest
from scipy import special

from vebnn.networks import MLP
from vebnn.networks.activations import ACTIVATIONS, sine

# The same functions from NumPy and SciPy.
REFERENCES = {
    "relu": lambda h: np.maximum(h, 0),
    "tanh": np.tanh,
    "silu": lambda h: h * special.expit(h),
    "gelu": lambda h: 0.5 * h * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h**3))),
    "elu": lambda h: np.where(h > 0, h, np.expm1(h)),
    "softplus": lambda h: np.log1p(np.exp(h)),
    "sin": np.sin,
}


def test_every_activation_has_a_reference() -> None:
    assert REFERENCES.keys() == ACTIVATIONS.keys()


@pytest.mark.parametrize("activation", sorted(REFERENCES))
def test_equals_a_forward_pass_by_hand(activation: str, key: jax.Array) -> None:
    network = MLP((7, 5), activation).build((3,), 2, key=key)
    x = np.array([0.5, -1.0, 2.0])
    h = x
    for weight, bias in zip(network.weights[:-1], network.biases[:-1], strict=True):
        h = REFERENCES[activation](np.asarray(weight, float) @ h + np.asarray(bias, float))
    expected = np.asarray(network.weights[-1], float) @ h + np.asarray(network.biases[-1], float)
    np.testing.assert_allclose(network(x.astype(np.float32)), expected, rtol=1e-4, atol=1e-5)


def test_the_fast_sine_and_its_derivative() -> None:
    x = np.linspace(-10, 10, 20_001).astype(np.float32)
    np.testing.assert_allclose(sine(x), np.sin(x.astype(float)), atol=2e-6)
    slope = jax.vmap(jax.grad(sine))(x)
    np.testing.assert_allclose(slope, np.cos(x.astype(float)), atol=2e-6)
    far = np.linspace(-1_000, 1_000, 2_001).astype(np.float32)
    np.testing.assert_allclose(sine(far), np.sin(far.astype(float)), atol=2e-4)


def test_a_mixture_gives_each_activation_its_share_of_the_units(key: jax.Array) -> None:
    network = MLP((6,), "sin+tanh").build((3,), 1, key=key)
    x = np.array([0.5, -1.0, 2.0])
    first, last = (np.asarray(weight, float) for weight in network.weights)
    h = first @ x + np.asarray(network.biases[0], float)
    expected = last @ np.concatenate([np.sin(h[:3]), np.tanh(h[3:])]) + np.asarray(network.biases[1])
    np.testing.assert_allclose(network(x.astype(np.float32)), expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="`activation` must be one of"):
        MLP((6,), "sin+wave")


def test_the_output_scale_multiplies_the_last_layer(key: jax.Array) -> None:
    recipe = MLP((6,), "tanh", prior="learned", linear=True)
    one, small = (recipe, replace(recipe, output_scale=0.4))
    x = np.float32([0.5, -1.0, 2.0])
    bias = one.build((3,), 2, key=key).biases[-1]
    whole, part = (made.build((3,), 2, key=key)(x) - bias for made in (one, small))
    np.testing.assert_allclose(part, 0.4 * whole, rtol=1e-5)
    with pytest.raises(ValueError, match="`output_scale`"):
        MLP((6,), output_scale=0.0)


def test_every_layer_may_have_its_own_activation(key: jax.Array) -> None:
    network = MLP((7, 5), ["sin", "relu"]).build((3,), 2, key=key)
    x = np.array([0.5, -1.0, 2.0])
    first, second, last = (np.asarray(weight, float) for weight in network.weights)
    biases = [np.asarray(bias, float) for bias in network.biases]
    h = np.maximum(second @ np.sin(first @ x + biases[0]) + biases[1], 0)
    expected = last @ h + biases[2]
    np.testing.assert_allclose(network(x.astype(np.float32)), expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="`activation` of MLP must be one value or one per hidden"):
        MLP((7, 5), ("sin",))
    with pytest.raises(ValueError, match="`activation` must be one of"):
        MLP((7, 5), ("sin", "wave"))


@pytest.mark.parametrize("widths", [(), (4,), (4, 6, 5)])
def test_shapes(widths: tuple[int, ...], key: jax.Array) -> None:
    network = MLP(widths).build((2, 3), 4, key=key)
    sizes = (6, *widths, 4)
    assert [weight.shape for weight in network.weights] == list(zip(sizes[1:], sizes[:-1], strict=True))
    assert [bias.shape for bias in network.biases] == [(size,) for size in sizes[1:]]
    assert network(np.ones((2, 3), np.float32)).shape == (4,)


def test_without_hidden_layers_it_is_linear(key: jax.Array) -> None:
    network = MLP(()).build((3,), 2, key=key)
    x, z = np.float32([[1, 2, 3], [-4, 0, 5]])
    np.testing.assert_allclose(network(x) + network(z), network(x + z) + network(0 * x), rtol=1e-5)


def test_start_is_uniform_within_one_over_root_fan_in(key: jax.Array) -> None:
    network = MLP((400, 100)).build((4,), 50, key=key)
    for weight, bias, fan_in in zip(network.weights, network.biases, (4, 400, 100), strict=True):
        bound = 1 / np.sqrt(fan_in)
        for array in (np.asarray(weight), np.asarray(bias)):
            assert np.abs(array).max() <= bound
            assert np.abs(array).max() > 0.9 * bound
        # A uniform distribution on ±b has the variance b²/3.
        np.testing.assert_allclose(np.var(weight), bound**2 / 3, rtol=0.15)
        assert abs(np.mean(weight)) < 0.1 * bound


def test_keys_make_different_networks() -> None:
    one, same, other = (MLP((4,)).build((3,), 1, key=jax.random.key(seed)) for seed in (0, 0, 1))
    assert eqx.tree_equal(one, same)
    assert not np.allclose(one.weights[0], other.weights[0])


def test_dropout_only_with_a_key(key: jax.Array) -> None:
    network = MLP((200,), dropout_rate=0.5).build((3,), 1, key=key)
    plain = MLP((200,)).build((3,), 1, key=key)
    x = np.ones(3, np.float32)
    np.testing.assert_array_equal(network(x), plain(x))
    outputs = [np.asarray(network(x, key=jax.random.key(seed))) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert not np.allclose(outputs[0], outputs[2])


def test_dropout_keeps_the_mean_of_the_last_layer(key: jax.Array) -> None:
    network = MLP((20,), dropout_rate=0.4).build((3,), 1, key=key)
    x = np.ones(3, np.float32)
    outputs = jax.jit(jax.vmap(lambda key: network(x, key=key)))(jax.random.split(key, 4_000))
    error = np.std(outputs) / np.sqrt(4_000)
    assert abs(np.mean(outputs) - network(x)[0]) < 4 * error
    assert error > 0


def test_one_dropout_rate_per_layer(key: jax.Array) -> None:
    network = MLP((20, 20), dropout_rate=(0.0, 0.9)).build((3,), 1, key=key)
    assert network.dropout_rates == (0.0, 0.9)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"widths": 50}, r"The `widths` of MLP must be a tuple of positive integers.*Got 50\."),
        ({"widths": (50, 0)}, r"The `widths` of MLP must be .* Got \(50, 0\)\."),
        ({"widths": (50.5,)}, r"The `widths` of MLP must be .* Got \(50\.5,\)\."),
        ({"widths": "50"}, r"The `widths` of MLP must be .* Got '50'\."),
        ({"activation": "mish"}, r"The `activation` must be one of .* Got 'mish'\."),
        ({"dropout_rate": 1.0}, r"The `dropout_rate` must be a number in \[0, 1\)\. Got 1\.0\."),
        ({"dropout_rate": -0.1}, r"The `dropout_rate` must be a number in \[0, 1\)\. Got -0\.1\."),
        (
            {"dropout_rate": (0.1, 0.2)},
            r"one value or one per hidden layer \(1\)\. Got \(0\.1, 0\.2\)",
        ),
    ],
)
def test_bad_arguments(settings: dict, sentence: str, key: jax.Array) -> None:
    with pytest.raises(ValueError, match=sentence):
        MLP(**settings).build((3,), 1, key=key)
