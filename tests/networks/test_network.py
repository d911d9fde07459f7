"""A network is one pytree: its leaves are the weights, all else is static."""

import copy
import pickle

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vebnn import GRU, MLP
from vebnn.inference.evaluation import evaluate
from vebnn.networks import Network, build_networks
from vebnn.networks.network import Structure

X = np.array([0.5, -1.0, 2.0], np.float32)


def build(recipe, count: int = 1, seed: int = 0, out_size: int = 2) -> Network:
    keys = jax.random.split(jax.random.key(seed), count)
    return build_networks(recipe, (3,), out_size, keys)


def first(networks: Network) -> Network:
    return jax.tree.map(lambda leaf: leaf[0], networks)


class Selected(eqx.Module):
    """A network with arrays that are not weights: integers, booleans and a random key."""

    weight: jax.Array
    columns: jax.Array
    signs: jax.Array
    key: jax.Array
    scale: float

    def __call__(self, x: jax.Array) -> jax.Array:
        shift = jax.random.normal(self.key, (2,))
        chosen = jnp.where(self.signs, 1.0, -1.0) * x[self.columns]
        return self.scale * (self.weight @ chosen) + shift


def selected(columns=(2, 0), signs=(True, False), seed: int = 4, scale: float = 3.0) -> Selected:
    weight = np.array([[1.0, 2.0], [3.0, 5.0]], np.float32)
    arrays = (jnp.asarray(weight), jnp.asarray(columns), jnp.asarray(signs))
    return Selected(*arrays, jax.random.key(seed), scale)


def test_leaves_are_exactly_the_weights() -> None:
    networks = build(MLP((7,), dropout_rate=0.5), count=4)
    shapes = [leaf.shape for leaf in jax.tree.leaves(networks)]
    assert sorted(shapes) == [(4, 2), (4, 2, 7), (4, 7), (4, 7, 3)]
    assert all(jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in jax.tree.leaves(networks))


def test_leaves_of_a_network_with_other_arrays_are_its_weights_alone() -> None:
    networks = build(selected(), count=3)
    (weight,) = jax.tree.leaves(networks)
    assert weight.shape == (3, 2, 2)


def test_one_of_the_stack_is_the_module_that_its_key_builds() -> None:
    recipe, keys = MLP((5,), "tanh"), jax.random.split(jax.random.key(0), 3)
    networks = build_networks(recipe, (3,), 2, keys)
    for number, key in enumerate(keys):
        one = jax.tree.map(lambda leaf, number=number: leaf[number], networks)
        np.testing.assert_allclose(one(X), recipe.build((3,), 2, key=key)(X), rtol=1e-5)


def test_dropout_is_on_with_a_key_and_off_without() -> None:
    network = first(build(MLP((40,), dropout_rate=0.5)))
    np.testing.assert_array_equal(network(X), network(X))
    outputs = [np.asarray(network(X, key=jax.random.key(seed))) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert not np.allclose(outputs[0], outputs[2])


def test_gradients_have_the_structure_of_the_network() -> None:
    network = first(build(selected()))
    slope = jax.grad(lambda net: jnp.sum(net(X)))(network)
    assert jax.tree.structure(slope) == jax.tree.structure(network)
    # d/dw of scale · w · (2, −0.5), the same for both outputs.
    np.testing.assert_allclose(slope.weights.module.weight, [[6.0, -1.5]] * 2, rtol=1e-6)


@pytest.mark.parametrize(
    "recipe",
    [MLP((5,), "tanh"), pytest.param(selected, id="arrays that are not weights")],
)
def test_networks_built_apart_have_equal_structures(recipe) -> None:
    make = recipe if callable(recipe) else lambda: recipe
    one, other = build(make(), seed=0), build(make(), seed=1)
    assert jax.tree.structure(one) == jax.tree.structure(other)
    assert hash(jax.tree.structure(one)) == hash(jax.tree.structure(other))
    assert one.structure is not other.structure


def test_networks_built_apart_share_one_compiled_program(compiled: list[str]) -> None:
    x = np.tile(X, (8, 1))
    evaluate(first(build(selected(), seed=0)), x)
    second = first(build(selected(), seed=1))
    compiled.clear()
    evaluate(second, x)
    assert compiled == []


@pytest.mark.parametrize(
    "change",
    [{"columns": (1, 0)}, {"signs": (True, True)}, {"seed": 5}, {"scale": 2.0}],
    ids=lambda change: next(iter(change)),
)
def test_another_value_beside_the_weights_is_another_structure(change: dict) -> None:
    plain, changed = build(selected()), build(selected(**change))
    assert jax.tree.structure(plain) != jax.tree.structure(changed)
    # A program compiled for one must not serve the other.
    run = jax.jit(lambda networks: first(networks)(X))
    assert not np.allclose(run(plain), run(changed))


@pytest.mark.parametrize(
    "recipes", [(MLP((5,)), MLP((5,), "tanh")), (MLP((5,)), MLP((5,), "relu", 0.1))]
)
def test_another_recipe_with_weights_of_the_same_shape_is_another_structure(recipes) -> None:
    one, other = map(build, recipes)
    assert jax.tree.structure(one) != jax.tree.structure(other)


def test_arrays_that_are_not_weights_are_kept() -> None:
    module = selected()
    network = first(build(module))
    kept = network.structure.module.module
    np.testing.assert_array_equal(kept.columns, module.columns)
    np.testing.assert_array_equal(kept.signs, module.signs)
    np.testing.assert_array_equal(jax.random.key_data(kept.key), jax.random.key_data(module.key))
    assert kept.weight is None


def test_integers_booleans_and_random_keys_serve_the_call() -> None:
    network = first(build(selected()))
    weight = np.asarray(network.weights.module.weight, float)
    shift = jax.random.normal(jax.random.key(4), (2,))
    expected = 3 * weight @ [2.0, -0.5] + np.asarray(shift)
    np.testing.assert_allclose(network(X), expected, rtol=1e-5)
    np.testing.assert_allclose(evaluate(network, X[None])[0], expected, rtol=1e-5)


def test_a_stack_has_one_copy_of_arrays_that_are_not_weights() -> None:
    networks = build(selected(), count=3)
    assert networks.structure.module.module.columns.shape == (2,)


def test_structures_compare_by_content() -> None:
    one, same, other = (Structure({"a": np.arange(n), "f": jnp.tanh}) for n in (3, 3, 4))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != "something else"
    # Equal bytes are not equal arrays.
    assert Structure(np.zeros(2, np.float32)) != Structure(np.zeros(1, np.float64))


def test_paths_of_leaves_have_names() -> None:
    paths = jax.tree_util.tree_leaves_with_path(build(MLP((4,))))
    assert [jax.tree_util.keystr(path) for path, _ in paths] == [
        ".weights.weights[0]",
        ".weights.weights[1]",
        ".weights.biases[0]",
        ".weights.biases[1]",
    ]


def test_sequences_are_checked_step_by_step() -> None:
    keys = jax.random.split(jax.random.key(0), 2)
    networks = build_networks(GRU((4,)), (5, 3), 2, keys, steps=(5,))
    assert first(networks)(np.zeros((5, 3), np.float32)).shape == (5, 2)
    with pytest.raises(ValueError, match=r"shape \(4, 2\)\. Got \(5, 2\)\.$"):
        build_networks(GRU((4,)), (5, 3), 2, keys, steps=(4,))
    # Targets of shape (rows, time) look like as many outputs as there are steps.
    with pytest.raises(ValueError, match=r"shape \(5,\)\. Got \(5, 5\)\. For one target at every step"):
        build_networks(GRU((4,)), (5, 3), 5, keys)


def test_a_pickled_or_copied_network_shares_the_programs_of_the_original() -> None:
    network = build_networks(MLP((4,)), (2,), 1, jax.random.split(jax.random.key(0), 1))
    for other in (pickle.loads(pickle.dumps(network)), copy.deepcopy(network)):
        assert jax.tree.structure(other) == jax.tree.structure(network)
        assert hash(other.structure) == hash(network.structure)
