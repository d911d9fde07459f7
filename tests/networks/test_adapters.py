"""Networks of other libraries give the outputs of their own framework with the same weights."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen, nnx

from vebnn.networks import MLP, build_networks
from vebnn.networks.adapters import as_recipe

X = np.array([0.5, -1.0, 2.0], np.float32)


def pair(out_size: int = 2) -> tuple:
    def init(key: jax.Array, x: jax.Array) -> dict:
        return {"weight": jax.random.normal(key, (out_size, x.shape[0]))}

    def apply(params: dict, x: jax.Array) -> jax.Array:
        return params["weight"] @ x

    return init, apply


def equinox_module(out_size: int = 2) -> eqx.Module:
    return eqx.nn.MLP(3, out_size, 8, 1, activation=jnp.tanh, key=jax.random.key(7))


class Linen(linen.Module):
    out_size: int = 2
    rate: float = 0.0

    @linen.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        h = linen.tanh(linen.Dense(8)(x))
        h = linen.Dropout(self.rate, deterministic=not self.has_rng("dropout"))(h)
        return linen.Dense(self.out_size)(h)


class NNX(nnx.Module):
    def __init__(self, out_size: int = 2, rate: float = 0.0) -> None:
        rngs = nnx.Rngs(7)
        self.first = nnx.Linear(3, 8, rngs=rngs)
        self.dropout = nnx.Dropout(rate, rngs=rngs)
        self.last = nnx.Linear(8, out_size, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.last(self.dropout(jnp.tanh(self.first(x))))


KINDS = {"pair": pair, "equinox": equinox_module, "linen": Linen, "nnx": NNX}


@pytest.fixture(params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def members(network: Any, count: int = 3, out_size: int = 2, seed: int = 0) -> list[Any]:
    """Build some networks at once, and return each on its own."""
    keys = jax.random.split(jax.random.key(seed), count)
    networks = build_networks(network, (3,), out_size, keys)
    assert {leaf.shape[0] for leaf in jax.tree.leaves(networks)} == {count}
    return [jax.tree.map(lambda leaf, index=index: leaf[index], networks) for index in range(count)]


def by_its_own_framework(kind: str, member: Any) -> np.ndarray:
    """Call the original with a member's weights, the way its framework does."""
    if kind == "pair":
        return pair()[1](member.weights.params, X)
    if kind == "linen":
        return Linen().apply({"params": member.weights.params}, X)
    if kind == "equinox":
        original = equinox_module()
        where = lambda net: [part for layer in net.layers for part in (layer.weight, layer.bias)]  # noqa: E731
        return eqx.tree_at(where, original, where(member.weights.module))(X)
    original = NNX()
    nnx.update(original, nnx.State(member.weights.params))
    original.eval()
    return original(X)


def test_each_key_gives_other_weights(kind: str) -> None:
    outputs = [np.asarray(member(X)) for member in members(KINDS[kind]())]
    assert all(output.shape == (2,) for output in outputs)
    assert not np.allclose(outputs[0], outputs[1])
    assert not np.allclose(outputs[1], outputs[2])


def test_the_same_key_gives_the_same_weights(kind: str) -> None:
    one, again = members(KINDS[kind]()), members(KINDS[kind]())
    np.testing.assert_array_equal(one[1](X), again[1](X))


def test_equals_its_own_framework(kind: str) -> None:
    for member in members(KINDS[kind]()):
        expected = by_its_own_framework(kind, member)
        np.testing.assert_allclose(member(X), expected, rtol=1e-5, atol=1e-6)


def test_gradients_reach_all_weights(kind: str) -> None:
    member = members(KINDS[kind]())[0]
    gradient = jax.grad(lambda net: jnp.sum(net(X) ** 2))(member)
    leaves = jax.tree.leaves(gradient)
    assert leaves
    assert all(np.abs(leaf).max() > 0 for leaf in leaves)


def test_wrong_number_of_outputs(kind: str) -> None:
    sentence = r"must map one example of shape \(3,\) to an output of shape \(5,\)\. Got \(2,\)"
    with pytest.raises(ValueError, match=sentence):
        members(KINDS[kind](), out_size=5)


def test_inputs_it_cannot_take() -> None:
    def apply(params: dict, x: jax.Array) -> jax.Array:
        return jnp.ones((2, 7)) @ x

    with pytest.raises(ValueError, match=r"cannot be applied to one example of shape \(3,\)"):
        members((pair()[0], apply))


@pytest.mark.parametrize("network", [Linen(rate=0.5), NNX(rate=0.5)], ids=["linen", "nnx"])
def test_flax_dropout_only_with_a_key(network: Any) -> None:
    member = members(network)[0]
    quiet = np.asarray(member(X))
    np.testing.assert_array_equal(quiet, member(X))
    outputs = [np.asarray(member(X, key=jax.random.key(seed))) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert not np.allclose(outputs[0], outputs[2])
    # Dropout is unbiased in front of a linear layer; without it, this is the mean.
    many = jax.jit(jax.vmap(lambda key: member(X, key=key)))(jax.random.split(jax.random.key(3), 4_000))
    error = np.std(many, axis=0) / np.sqrt(4_000)
    assert (np.abs(np.mean(many, axis=0) - quiet) < 4 * error).all()
    assert (error > 0).all()


def test_nnx_module_of_the_user_is_not_changed() -> None:
    network = NNX()
    before = np.asarray(network(X))
    members(network)
    np.testing.assert_array_equal(network(X), before)


def test_equinox_dropout_with_a_key() -> None:
    class Noisy(eqx.Module):
        linear: eqx.nn.Linear
        dropout: eqx.nn.Dropout

        def __call__(self, x: jax.Array, *, key: jax.Array | None = None) -> jax.Array:
            return self.dropout(self.linear(x), key=key, inference=key is None)

    network = Noisy(eqx.nn.Linear(3, 2, key=jax.random.key(0)), eqx.nn.Dropout(0.5))
    member = members(network)[0]
    np.testing.assert_allclose(member(X), member.weights.module.linear(X), rtol=1e-6)
    many = jax.jit(jax.vmap(lambda key: member(X, key=key)))(jax.random.split(jax.random.key(3), 20))
    assert len(np.unique(np.asarray(many), axis=0)) > 1


def test_pair_with_a_key() -> None:
    def apply(params: dict, x: jax.Array, key: jax.Array | None = None) -> jax.Array:
        shift = 0.0 if key is None else jax.random.normal(key)
        return params["weight"] @ x + shift

    member = members((pair()[0], apply))[0]
    shift = jax.random.normal(jax.random.key(1))
    np.testing.assert_allclose(member(X, key=jax.random.key(1)), member(X) + shift, rtol=1e-5)


@pytest.mark.parametrize("kind", ["equinox", "nnx"])
def test_copies_of_a_module_have_the_same_values_in_another_order(kind: str) -> None:
    copies = [
        [np.sort(np.ravel(leaf)) for leaf in jax.tree.leaves(member)]
        for member in members(KINDS[kind]())
    ]
    for other in copies[1:]:
        for mine, yours in zip(copies[0], other, strict=True):
            np.testing.assert_array_equal(mine, yours)


def test_batch_normalisation_is_refused() -> None:
    class LinenNormalised(linen.Module):
        @linen.compact
        def __call__(self, x: jax.Array) -> jax.Array:
            return linen.BatchNorm(use_running_average=True)(linen.Dense(2)(x))

    class NNXNormalised(nnx.Module):
        def __init__(self) -> None:
            self.linear = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
            self.norm = nnx.BatchNorm(2, rngs=nnx.Rngs(0))

        def __call__(self, x: jax.Array) -> jax.Array:
            return self.norm(self.linear(x))

    for network in (LinenNormalised(), NNXNormalised()):
        with pytest.raises(ValueError, match=r"must hold nothing but weights.*batch normalisation"):
            members(network)


def test_recipes_pass_through() -> None:
    recipe = MLP((4,))
    assert as_recipe(recipe) is recipe


def test_something_else_is_refused() -> None:
    with pytest.raises(TypeError, match=r"The `network` must be a recipe .* Got str\."):
        as_recipe("resnet")
