"""Arrays by their path in a tree, and the trees that are filled with them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vebnn.serialization.arrays import pack_arrays
from vebnn.serialization.trees import arrays_of, fill


def test_arrays_are_named_by_their_path() -> None:
    network = eqx.filter(eqx.nn.MLP(3, 1, 8, 1, key=jax.random.key(0)), eqx.is_inexact_array)
    assert set(arrays_of("draws", {"mean": network, "log_std": (np.zeros(1), np.ones(2))})) == {
        "draws/log_std/0",
        "draws/log_std/1",
        *(f"draws/mean/layers/{layer}/{part}" for layer in (0, 1) for part in ("weight", "bias")),
    }
    assert list(arrays_of("trace", np.zeros(3))) == ["trace"]
    assert arrays_of("none", (None, ())) == {}


def test_order_of_the_arrays_does_not_matter() -> None:
    tree = {"a": np.arange(3.0), "b": (np.arange(4.0), np.arange(5))}
    saved = dict(reversed(list(arrays_of("x", tree).items())))
    like = {"a": np.zeros(0), "b": (np.zeros(0), np.zeros(0, int))}
    for one, other in zip(jax.tree.leaves(tree), jax.tree.leaves(fill("x", like, saved)), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


def test_names_that_begin_alike_stay_apart() -> None:
    saved = {**arrays_of("probe", np.zeros(1)), **arrays_of("probe_x", np.ones(2))}
    assert fill("probe", np.zeros(0), saved).shape == (1,)
    assert fill("probe_x", np.zeros(0), saved).shape == (2,)


def test_arrays_of_older_formats_are_found_by_position() -> None:
    saved = {f"draws.{n}": np.full(1, n) for n in sorted(range(12), key=str)}
    assert fill("draws", [0] * 12, saved) == list(range(12))
    saved = {"info.step_size": np.full(1, 2), "info.acceptance": np.full(1, 1)}
    assert fill("info", {"acceptance": 0, "step_size": 0}, saved) == {"acceptance": 1, "step_size": 2}


def test_random_keys_survive_with_their_kind() -> None:
    tree = {"key": jax.random.key(3, impl="rbg"), "keys": jax.random.split(jax.random.key(4), 2)}
    saved = arrays_of("state", tree)
    pack_arrays(saved)  # plain numbers
    other = {"key": jax.random.key(0, impl="rbg"), "keys": jax.random.split(jax.random.key(0), 2)}
    again = fill("state", other, saved)
    assert again["key"].dtype == tree["key"].dtype
    np.testing.assert_array_equal(jax.random.normal(again["key"]), jax.random.normal(tree["key"]))
    assert jnp.all(again["keys"] == tree["keys"])


@pytest.mark.parametrize(
    ("like", "sentence"),
    [
        ([0, 0, 0], "has 3 arrays where the saved model has 2, .* in 'draws/2'. Pass the very network"),
        ([0], r"has 1 arrays where the saved model has 2, and they differ in 'draws[/.]1'"),
        ({"0": 0, "2": 0}, "has 2 arrays where the saved model has 2, and they differ in 'draws/1'"),
    ],
)
def test_other_trees_are_refused(like, sentence) -> None:
    with pytest.raises(ValueError, match=sentence):
        fill("draws", like, arrays_of("draws", [np.zeros(1), np.ones(1)]))
    if isinstance(like, list):
        with pytest.raises(ValueError, match=sentence):
            fill("draws", like, {"draws.0": np.zeros(1), "draws.1": np.zeros(1)})


def test_equal_paths_are_refused_when_saving() -> None:
    with pytest.raises(ValueError, match="'x' have the same path"):
        arrays_of("x", {"a/b": np.zeros(1), "a": {"b": np.ones(1)}})
