"""Many runs as one compiled program over all devices.

Ensemble members, chains, seeds, learning rates, data splits and cross-fit folds are all "runs": the
leading axis of their arrays. ``shard_map`` distributes it over the devices. Within a device runs follow
one another on a CPU, where that is as fast as ``vmap`` and a finished run costs nothing; on an
accelerator they are vectorised.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

Tree = TypeVar("Tree")
_AXIS = "runs"


def map_runs(function: Callable[[Any, Any], Tree], shared: Any, runs: Any) -> Tree:
    """Return ``function(shared, run)`` for every run, stacked.

    Args:
      function: a pure function, or an Equinox module; it is compiled once per set of shapes.
      shared: pytree that all runs have in common.
      runs: pytree whose array leaves have the runs as leading axis.
    """
    num_runs = jax.tree.leaves(runs)[0].shape[0]
    num_devices = _devices_for(num_runs)
    even = -(-num_runs // num_devices) * num_devices
    mesh = _mesh(num_devices)
    # Every device needs the same number of runs: the last run is repeated.
    runs = _resized(runs, even) if even > num_runs else runs
    # Sharded like the results: otherwise the second call in a loop compiles again.
    runs = jax.device_put(runs, NamedSharding(mesh, PartitionSpec(_AXIS)))
    compiled = _compiled(all_busy=num_devices == jax.local_device_count())
    results = compiled(function, replicate(shared, num_runs), runs, mesh)
    return _resized(results, num_runs) if even > num_runs else results


@eqx.filter_jit
def _resized(runs: Tree, size: int) -> Tree:
    """Return the first ``size`` runs; the last one is repeated where there are fewer.

    One program for all leaves: compiling one per leaf takes longer than a run.
    """
    return jax.tree.map(lambda leaf: leaf[jnp.minimum(jnp.arange(size), leaf.shape[0] - 1)], runs)


def replicate(shared: Tree, num_runs: int) -> Tree:
    """Copy shared data to every device; call it once before a loop over ``map_runs``."""
    mesh = _mesh(_devices_for(num_runs))
    arrays, rest = eqx.partition(shared, eqx.is_array)
    return eqx.combine(jax.device_put(arrays, NamedSharding(mesh, PartitionSpec())), rest)


def gather(tree: Tree) -> Tree:
    """Return the results of a fleet as NumPy arrays."""
    return jax.device_get(tree)


def _devices_for(num_runs: int) -> int:
    """Return the fewest devices that are as fast as all: six runs need three devices, not four."""
    most_on_one = -(-num_runs // jax.local_device_count())
    return -(-num_runs // most_on_one)


def _mesh(num_devices: int) -> Mesh:
    return Mesh(np.asarray(jax.local_devices()[:num_devices]), (_AXIS,))


@cache
def _compiled(all_busy: bool) -> Callable[[Callable, Any, Any, Mesh], Any]:
    """Return ``_on_every_device`` compiled; with all cores busy, each run stays on its thread."""
    in_order = {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}
    fits = all_busy and jax.default_backend() == "cpu" and _is_known(in_order)
    # Equinox passes options on to jax.jit, but its types omit them.
    return eqx.filter_jit(_on_every_device, compiler_options=in_order if fits else None)  # type: ignore[call-overload]


def _is_known(options: dict[str, Any]) -> bool:
    """Return whether this version of the compiler has these options."""
    try:
        jax.jit(lambda: 0, compiler_options=options).lower().compile()
    except RuntimeError:
        return False
    return True


def _on_every_device(function: Callable, shared: Any, runs: Any, mesh: Mesh) -> Any:
    side_by_side = jax.default_backend() != "cpu"
    # Arrays inside `function` or `shared` are inputs of the program, everything else is static.
    shared_arrays, static = eqx.partition((function, shared), eqx.is_array)

    def on_one_device(shared_arrays: Any, runs: Any) -> Any:
        one, all_see = eqx.combine(shared_arrays, static)
        go = lambda run: one(all_see, run)  # noqa: E731
        return jax.vmap(go)(runs) if side_by_side else jax.lax.map(go, runs)

    each, everywhere = PartitionSpec(_AXIS), PartitionSpec()
    sharded = jax.shard_map(
        on_one_device, mesh=mesh, in_specs=(everywhere, each), out_specs=each, check_vma=False
    )
    return sharded(shared_arrays, runs)
