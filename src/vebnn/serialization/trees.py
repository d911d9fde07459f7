"""Arrays of a pytree by their path in it, such as ``draws/layers/0/weight``."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def arrays_of(name: str, tree: Any) -> dict[str, np.ndarray]:
    """Return the arrays of a pytree by name and path; random keys are stored as their data.

    Raises:
      ValueError: if two arrays have the same path.
    """
    paths, leaves, _ = _flatten(name, tree)
    if len(set(paths)) < len(paths):
        raise ValueError(f"Two arrays of {name!r} have the same path. Rename a key that holds a slash.")
    plain = [jax.random.key_data(leaf) if _is_key(leaf) else leaf for leaf in leaves]
    return dict(zip(paths, map(np.asarray, plain), strict=True))


def fill(name: str, like: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """Return a pytree like ``like`` with the arrays that :func:`arrays_of` named; shapes may differ.

    Formats of models before 4 named arrays by position, ``draws.0``, ``draws.1``; these are read too.

    Raises:
      ValueError: if a path is missing or superfluous.
    """
    paths, leaves, structure = _flatten(name, like)
    by_position = [path for path in arrays if path.startswith(f"{name}.")]
    # Position 10 comes after 9. The entries of a dictionary were named by their keys.
    by_position.sort(key=lambda path: (path.rsplit(".", 1)[-1].isdigit() and len(path), path))
    saved = by_position or [path for path in arrays if path == name or path.startswith(f"{name}/")]
    if len(saved) != len(paths):
        raise ValueError(
            f"The network has {len(paths)} arrays where the saved model has {len(saved)}. "
            f"Pass the very network the model was made with."
        )
    if not by_position and (missing := sorted(set(paths) - set(saved))):
        raise ValueError(
            f"The network has an array {missing[0]!r}, which the saved model lacks. "
            f"Pass the very network the model was made with."
        )
    filled = [arrays[path] for path in by_position or paths]
    return jax.tree.unflatten(structure, map(_like, filled, leaves))


def _flatten(name: str, tree: Any) -> tuple[list[str], list[Any], Any]:
    leaves, structure = jax.tree_util.tree_flatten_with_path(tree)
    paths = [
        "/".join([name, *(jax.tree_util.keystr((key,), simple=True) for key in path)])
        for path, _ in leaves
    ]
    return paths, [leaf for _, leaf in leaves], structure


def _like(saved: np.ndarray, leaf: Any) -> Any:
    if _is_key(leaf):
        return jax.random.wrap_key_data(jnp.asarray(saved), impl=jax.random.key_impl(leaf))
    return saved


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
