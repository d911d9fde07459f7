import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vebnn.networks import MLP, build_networks
from vebnn.networks.two_networks import ConstantRest, Separate

MEAN, REST = MLP((5,), "tanh"), MLP((3,), "tanh")
X = np.array([0.5, -1.0], np.float32)


def build(recipe, key: jax.Array, out_size: int = 6):
    return recipe.build((2,), out_size, key=key)


def touched_by(network, outputs: slice) -> list[bool]:
    """Return which of the two networks some outputs depend on: mean, rest."""
    params, skeleton = eqx.partition(network, eqx.is_inexact_array)
    total = eqx.filter_jit(jax.grad(lambda params: jnp.sum(eqx.combine(params, skeleton)(X)[outputs])))
    slopes = jax.device_get(total(params))
    return [
        bool(any(leaf.any() for leaf in jax.tree.leaves(one))) for one in (slopes.mean, slopes.rest)
    ]


def test_separate_networks_share_no_weight(key: jax.Array) -> None:
    network = build(Separate(MEAN, REST, 3), key)
    # Two targets of three parts: outputs 0 and 1 are the means.
    assert touched_by(network, slice(0, 2)) == [True, False]
    assert touched_by(network, slice(2, 6)) == [False, True]


def test_outputs_are_the_mean_first_then_the_rest(key: jax.Array) -> None:
    network = build(Separate(MEAN, REST, 3), key)
    outputs = network(X)
    assert outputs.shape == (6,)
    np.testing.assert_array_equal(outputs[:2], network.mean(X))
    np.testing.assert_array_equal(outputs[2:], network.rest(X))
    assert network.mean.weights[0].shape == (5, 2)
    assert network.rest.weights[0].shape == (3, 2)


def test_constants_are_the_same_everywhere_and_can_be_learned(key: jax.Array) -> None:
    network = build(ConstantRest(MEAN, 3), key)
    here, there = network(X), network(3 * X + 1)
    assert (here[:2] != there[:2]).all()
    np.testing.assert_array_equal(here[2:], there[2:])
    # They are weights like any other: four numbers, which start at zero.
    params = eqx.filter(network, eqx.is_inexact_array)
    np.testing.assert_array_equal(jax.tree.leaves(params.rest), np.zeros((1, 4)))


@pytest.mark.parametrize("recipe", [Separate(MEAN, REST, 2), ConstantRest(MEAN, 2)])
def test_every_key_gives_another_start(recipe, key: jax.Array) -> None:
    networks = build_networks(recipe, (2,), 4, jax.random.split(key, 3))
    assert all(leaf.shape[0] == 3 for leaf in jax.tree.leaves(networks))
    first, second = (jax.tree.map(lambda leaf, n=n: leaf[n], networks) for n in range(2))
    outputs = [one(X)[:2] for one in (first, second)]
    assert (outputs[0] != outputs[1]).all()


def by_step(num_outputs: int, steps: int = 7):
    """Return an (init, apply) pair that maps (steps, features) to (steps, outputs)."""

    def init(key: jax.Array, x: jax.Array) -> jax.Array:
        return jax.random.normal(key, (x.shape[1], num_outputs))

    return init, lambda params, x: x @ params


def test_sequences_keep_their_steps(key: jax.Array) -> None:
    x = np.random.default_rng(0).normal(size=(7, 2)).astype(np.float32)
    keys = key[None]
    for recipe in (Separate(by_step(1), by_step(3), 4), ConstantRest(by_step(1), 4)):
        networks = build_networks(recipe, (7, 2), 4, keys, steps=(7,))
        outputs = jax.tree.map(lambda leaf: leaf[0], networks)(x)
        assert outputs.shape == (7, 4)
        assert len(np.unique(outputs[:, 0])) == 7
    # The constant is repeated along time.
    np.testing.assert_array_equal(outputs[:, 1:], np.zeros((7, 3)))


@pytest.mark.parametrize("dropped", ["mean", "rest"])
def test_dropout_is_on_with_a_key_and_off_without(dropped: str, key: jax.Array) -> None:
    wet = MLP((40,), "tanh", dropout_rate=0.5)
    recipe = Separate(wet, REST, 2) if dropped == "mean" else Separate(MEAN, wet, 2)
    network = build(recipe, key, out_size=2)
    one, other = (network(X, key=jax.random.key(n)) for n in range(2))
    moved = 0 if dropped == "mean" else 1
    assert one[moved] != other[moved]
    assert one[1 - moved] == other[1 - moved]
    np.testing.assert_array_equal(network(X), network(X))


def test_dropout_of_both_is_not_the_same(key: jax.Array) -> None:
    # With one key for both, twins would lose the same units.
    wet = MLP((40,), "tanh", dropout_rate=0.5)
    network = build(Separate(wet, wet, 2), key, out_size=2)
    twins = eqx.tree_at(lambda both: both.rest, network, network.mean)
    mean, rest = twins(X, key=key)
    assert mean != rest


def test_a_network_of_ones_own_may_hold_arrays(key: jax.Array) -> None:
    own = eqx.nn.Linear(2, 1, key=key)
    networks = build_networks(Separate(own, REST, 2), (2,), 2, jax.random.split(key, 2))
    # Each copy has the same weights in another order, as a module of one's own always has.
    assert sorted(networks.weights.mean.module.weight[1].ravel()) == sorted(own.weight.ravel())


def test_an_object_that_is_no_network_is_refused() -> None:
    with pytest.raises(TypeError, match="must be a recipe"):
        Separate(MEAN, 3, 2)
