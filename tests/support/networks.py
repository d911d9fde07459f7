"""Networks whose parameters are draws from their prior."""

from typing import Any

import equinox as eqx
import jax


def drawn_from_prior(recipe: Any, in_shape: tuple[int, ...], out_size: int, seed: int = 0) -> Any:
    """Build one network and replace its parameters by draws of N(0, 1)."""
    network = recipe.build(in_shape, out_size, key=jax.random.key(0))
    leaves, tree = jax.tree.flatten(eqx.filter(network, eqx.is_array))
    keys = jax.random.split(jax.random.key(seed), len(leaves))
    drawn = [jax.random.normal(key, leaf.shape) for key, leaf in zip(keys, leaves, strict=True)]
    return eqx.combine(jax.tree.unflatten(tree, drawn), network)
