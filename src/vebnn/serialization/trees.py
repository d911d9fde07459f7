"""Arrays of a pytree by their path in it, such as ``draws/layers/0/weight``."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vebnn.serialization.arrays import Arrays


def arrays_of(name: str, tree: Any) -> dict[str, np.ndarray]:
    """Return the arrays of a pytree by name and path; a PRNG key is stored as its data."""
    paths, leaves, _ = _flatten(name, tree)
    if len(set(paths)) < len(paths):
        raise ValueError(f"Two arrays of {name!r} have the same path. Rename a key that holds a slash.")
    plain = (jax.random.key_data(leaf) if _is_key(leaf) else leaf for leaf in leaves)
    return dict(zip(paths, map(np.asarray, plain), strict=True))


def fill(name: str, like: Any, arrays: Arrays) -> Any:
    """Return a pytree like ``like`` with the arrays that :func:`arrays_of` named; shapes may differ.

    Models of formats before 4 name arrays by position, ``draws.0``, or as ``info.step_size``; these
    are read, too.

    Raises:
      ValueError: if the paths are not the same.
    """
    paths, leaves, structure = _flatten(name, like)
    prefixes = (f"{name}/", f"{name}.")
    saved = {key: arrays[key] for key in arrays if key == name or key.startswith(prefixes)}
    for place, path in enumerate(paths):
        for old in (f"{name}.{place}", path.replace("/", ".", 1)):
            if path not in saved and old in saved:
                saved[path] = saved.pop(old)
    if saved.keys() != set(paths):
        raise ValueError(
            f"The network has {len(paths)} arrays where the saved model has {len(saved)}, and they "
            f"differ in {min(saved.keys() ^ set(paths))!r}. Pass the very network the model was made "
            f"with."
        )
    filled = [
        jax.random.wrap_key_data(jnp.asarray(saved[path]), impl=jax.random.key_impl(leaf))
        if _is_key(leaf)
        else saved[path]
        for path, leaf in zip(paths, leaves, strict=True)
    ]
    return jax.tree.unflatten(structure, filled)


def _flatten(name: str, tree: Any) -> tuple[list[str], list[Any], Any]:
    leaves, structure = jax.tree_util.tree_flatten_with_path(tree)
    paths = [
        "/".join([name, *(jax.tree_util.keystr((key,), simple=True) for key in path)])
        for path, _ in leaves
    ]
    return paths, [leaf for _, leaf in leaves], structure


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
