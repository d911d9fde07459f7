"""Runs over the processes of ``jax.distributed``, each of which makes the same fit of the same rows.

Every process takes a part of the runs with its own devices; then all get all results.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils

Value = TypeVar("Value", bool, float)


def are_several() -> bool:
    """Return whether ``jax.distributed`` has connected this process with others."""
    return jax.process_count() > 1


def agreed(value: Value) -> Value:
    """Return the first process's value in all: clocks differ, and all have to do the same."""
    if not are_several():
        return value
    return type(value)(multihost_utils.broadcast_one_to_all(np.asarray(value, np.float32)))


def over_processes(do: Callable[[Any], Any], runs: Any) -> Any:
    """Return ``do(runs)``, where runs are a leading axis, with a part of them done by each process."""
    num_runs = jax.tree.leaves(runs)[0].shape[0]
    each = -(-num_runs // jax.process_count())
    # Every process needs the same number of runs: the last run is repeated.
    numbers = np.minimum(jax.process_index() * each + np.arange(each), num_runs - 1)
    results = do(jax.tree.map(lambda leaf: leaf[numbers], runs))

    def gather(leaf: Any) -> Any:
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            words = gather(jax.random.key_data(leaf))
            return jax.random.wrap_key_data(jnp.asarray(words), impl=jax.random.key_impl(leaf))
        return multihost_utils.process_allgather(np.asarray(leaf), tiled=True)[:num_runs]

    return jax.tree.map(gather, results)
