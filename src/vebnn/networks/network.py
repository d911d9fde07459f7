"""A network as one pytree: its leaves are the weights, and it can be called."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import GetAttrKey

from vebnn.core.types import Array, Key, Module, Params, Recipe
from vebnn.networks.adapters import as_recipe

# Bytes, such as pixels, are standardised in the compiled step: 0 … 255 becomes −2 … 2.
BYTE_CENTRE, BYTE_SCALE = 127.5, 63.75


class Structure:
    """All of a network but its weights: layers, sizes, activations. Equal content compares equal.

    It is static, and part of the key of a compiled program.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        leaves, tree = jax.tree.flatten(module)
        self._content = (tree, *map(_hashable, leaves))
        self._hash = hash(self._content)

    def __reduce__(self) -> tuple:
        # A pickled or copied tree structure does not compare equal: build it again.
        return Structure, (self.module,)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Structure) and self._content == other._content)

    def __hash__(self) -> int:
        return self._hash


@jax.tree_util.register_pytree_with_keys_class
@dataclass(frozen=True, eq=False)
class Network:
    """A network, or several of the same structure whose weights are stacked along leading axes."""

    weights: Params  # the module with None in the place of everything else
    structure: Structure  # the module with None in the place of its weights

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        """Map one example to its outputs; without a key, dropout is off. Bytes become floats."""
        return self.module(_floats(x), key=key)

    @property
    def module(self) -> Module:
        """Weights and structure together."""
        return eqx.combine(self.weights, self.structure.module)

    @property
    def input_scales(self) -> Array | None:
        """Learned prior scale of each input, ``(..., inputs)``; None if the network has none."""
        return getattr(self.module, "input_scales", None)

    def augment(self, x: Array, key: Key) -> Array:
        """Return an example to train on in the place of another; most networks leave it as it is."""
        augment = getattr(self.module, "augment", None)
        return x if augment is None else augment(x, key)

    def features(self, x: Array) -> Array:
        """Map one example to what the head sees."""
        return self.module.features(_floats(x))

    @property
    def head(self) -> "Network | None":
        """The part behind the features, a network of its own; None if there is no such part."""
        if not (hasattr(self.module, "features") and hasattr(self.module, "head")):
            return None
        return Network(self.weights.head, Structure(self.structure.module.head))

    def tree_flatten_with_keys(self) -> tuple[tuple, Structure]:
        """Split into weights and structure, for JAX."""
        return ((GetAttrKey("weights"), self.weights),), self.structure

    @classmethod
    def tree_unflatten(cls, structure: Structure, children: tuple[Params]) -> "Network":
        """Put weights and structure together, for JAX."""
        return cls(*children, structure)


def _floats(x: Array) -> Array:
    return (x.astype(jnp.float32) - BYTE_CENTRE) / BYTE_SCALE if x.dtype == jnp.uint8 else x


def build_networks(
    network: Any,
    in_shape: tuple[int, ...],
    out_size: int,
    keys: Key,
    *,
    steps: tuple[int, ...] = (),
) -> Network:
    """Build one network per key, stacked, and check that they fit the data.

    Args:
      network: a recipe, or anything :func:`~vebnn.networks.adapters.as_recipe` takes.
      in_shape: shape of one example.
      out_size: number of outputs.
      keys: one key per network.
      steps: axes of one target before its outputs, such as time.

    Raises:
      ValueError: if the network does not map one example to ``(*steps, out_size)``.
    """
    # On the host, where taking some of the networks is no program of its own.
    stacked = jax.device_get(_build(as_recipe(network), in_shape, out_size, keys))
    weights, rest = eqx.partition(stacked, eqx.is_inexact_array)
    rest = jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, rest)
    built = Network(weights, Structure(rest))
    _check_shapes(built, in_shape, (*steps, out_size))
    return built


@eqx.filter_jit
def _build(recipe: Recipe, in_shape: tuple[int, ...], out_size: int, keys: Key) -> Module:
    # One program; layer by layer, each array would be a small program of its own.
    return eqx.filter_vmap(lambda key: recipe.build(in_shape, out_size, key=key))(keys)


def _check_shapes(stacked: Network, in_shape: tuple[int, ...], out_shape: tuple[int, ...]) -> None:
    def apply_first(networks: Network, x: Array) -> Array:
        return jax.tree.map(lambda leaf: leaf[0], networks)(x)

    try:
        shape = jax.eval_shape(apply_first, stacked, jax.ShapeDtypeStruct(in_shape, jnp.float32)).shape
    except Exception as error:
        raise ValueError(
            f"The `network` cannot be applied to one example of shape {in_shape}: {error}"
        ) from error
    if shape != out_shape:
        one = len(shape) == 2 and shape[0] == out_shape[0] and len(out_shape) == 1
        hint = " For one target at every step, y must have shape (rows, time, 1)." if one else ""
        raise ValueError(
            f"The `network` must map one example of shape {in_shape} to an output of shape "
            f"{out_shape}. Got {shape}.{hint}"
        )


def _hashable(leaf: Any) -> Any:
    if not eqx.is_array(leaf):
        return leaf
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    array = np.asarray(leaf)
    return array.shape, array.dtype.str, array.tobytes()
