"""What a network costs: floating-point operations of one example."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from vebnn.core.types import Array
from vebnn.networks.adapters import as_recipe


def forward_operations(network: Any, in_shape: tuple[int, ...], out_size: int) -> float:
    """Return the floating-point operations of one example through a network.

    Args:
      network: a recipe, or anything :func:`~vebnn.networks.adapters.as_recipe` takes.
      in_shape: shape of one example.
      out_size: number of outputs.
    """
    recipe = as_recipe(network)
    module = eqx.filter_eval_shape(recipe.build, in_shape, out_size, key=jax.random.key(0))
    shapes, rest = eqx.partition(module, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

    def apply(arrays: Any, x: Array) -> Array:
        return eqx.combine(arrays, rest)(x)

    lowered = jax.jit(apply).lower(shapes, jax.ShapeDtypeStruct(in_shape, jnp.float32))
    found = lowered.cost_analysis()
    assert found is not None  # all compilers of JAX know it
    return float(found["flops"])
