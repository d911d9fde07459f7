"""Many runs as one compiled program over all devices.

Ensemble members, chains, seeds, learning rates, data splits and cross-fit folds are all "runs": the
leading axis of their arrays. ``shard_map`` distributes it over the devices. Within a device runs follow
one another on a CPU, where that is as fast as ``vmap`` and a finished run costs nothing; on an
accelerator they are vectorised.

Where there are more devices than runs, several devices can share a run: each takes a part of every
batch (:func:`share_of`), and their gradients are averaged (:func:`mean_of_shares`).

With several workers, each run is a piece of work for one of them: see :mod:`vebnn.training.dealing`.
Processes of ``jax.distributed`` do a part each: see :mod:`vebnn.training.processes`.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from vebnn.core.blocks import is_wide
from vebnn.core.types import Array, Key, SomeDataset
from vebnn.training.batches import NO_ROW, fetch, rows_of_batch
from vebnn.training.dealing import are_dealt, deal, keep
from vebnn.training.processes import are_several, over_processes

Tree = TypeVar("Tree")
_AXIS, _SHARES = "runs", "shares"


def map_runs(function: Callable[[Any, Any], Tree], shared: Any, runs: Any, *, shares: int = 1) -> Tree:
    """Return ``function(shared, run)`` for every run, stacked.

    Args:
      function: a pure function, or an Equinox module; it is compiled once per set of shapes.
      shared: pytree that all runs have in common.
      runs: pytree whose array leaves have the runs as leading axis.
      shares: devices that share each run; see :func:`shares_of`.
    """
    if are_dealt(jax.tree.leaves(runs)[0].shape[0]):
        return deal(map_some, function, shared, runs)
    if _have_processes(jax.tree.leaves(runs)[0].shape[0]):
        return over_processes(lambda some: map_some(function, shared, some), runs)
    return map_runs_here(function, shared, runs, shares=shares)


def map_runs_here(
    function: Callable[[Any, Any], Tree],
    shared: Any,
    runs: Any,
    *,
    shares: int = 1,
    fewest_devices: int = 1,
) -> Tree:
    """Return the same by the devices of this process alone."""
    num_runs = jax.tree.leaves(runs)[0].shape[0]
    num_devices = max(_devices_for(num_runs), fewest_devices)
    even = -(-num_runs // num_devices) * num_devices
    mesh = _mesh(num_devices, shares)
    # Every device needs the same number of runs: the last run is repeated.
    runs = _resized(runs, even) if even > num_runs else runs
    # Sharded like the results: otherwise the second call in a loop compiles again.
    runs = _dealt(runs, NamedSharding(mesh, PartitionSpec(_AXIS)))
    compiled = _compiled(all_busy=num_devices * shares == jax.local_device_count())
    most = even // num_devices
    loads = np.clip(num_runs - most * np.arange(num_devices), 0, most).astype(np.int32)
    results = compiled(function, _copied(shared, mesh), runs, loads, mesh)
    return _resized(results, num_runs) if even > num_runs else results


def map_some(function: Callable[[Any, Any], Tree], shared: Any, runs: Any) -> Tree:
    """Return the same for some of the runs, the others being done elsewhere, bit for bit.

    A program for one device is compiled in another way than one for several, and differs from it in the
    last bits. So this is one for two at least, of which the second may have nothing to do.
    """
    cpu = jax.default_backend() == "cpu"
    fewest = min(2, jax.local_device_count()) if cpu else 1
    return map_runs_here(function, shared, runs, fewest_devices=fewest)


def _dealt(runs: Tree, sharding: NamedSharding) -> Tree:
    """Deal the runs to the devices.

    Arrays of a single device go by way of the host: there, each would be cut by a program of its own.
    """

    def deal(leaf: Any) -> Any:
        if not isinstance(leaf, jax.Array) or leaf.sharding.is_equivalent_to(sharding, leaf.ndim):
            return jax.device_put(leaf, sharding)
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            words = deal(jax.random.key_data(leaf))
            return jax.random.wrap_key_data(words, impl=jax.random.key_impl(leaf))
        return jax.device_put(np.asarray(leaf), sharding)

    return jax.tree.map(deal, runs)


@eqx.filter_jit
def _resized(runs: Tree, size: int) -> Tree:
    """Return the first ``size`` runs; the last one is repeated where there are fewer.

    One program for all leaves: compiling one per leaf takes longer than a run.
    """
    return jax.tree.map(lambda leaf: leaf[jnp.minimum(jnp.arange(size), leaf.shape[0] - 1)], runs)


def shares_of(x: Array, num_runs: int) -> int:
    """Return how many devices share a run: several only if there are enough, and rows are wide."""
    if are_dealt(num_runs) or _have_processes(num_runs):
        return 1
    return max(1, jax.local_device_count() // num_runs) if is_wide(x) else 1


def share_of(rows: Array, shares: int) -> Array:
    """Return this device's share of the row numbers of a batch, inside a run."""
    if shares == 1:
        return rows
    spare = -len(rows) % shares
    parts = jnp.pad(rows, (0, spare), constant_values=NO_ROW).reshape(shares, -1)
    return parts[jax.lax.axis_index(_SHARES)]


def fetch_share(
    data: SomeDataset, rows: Any, batch: SomeDataset | Array, batch_size: int, shares: int
) -> SomeDataset:
    """Return the rows of this device's share of a dealt batch, inside a run."""
    return fetch(data, share_of(rows_of_batch(data, rows, batch, batch_size), shares))


def key_of_share(key: Key, shares: int) -> Key:
    """Return this device's own key, inside a run, for the dropout of its share of a batch."""
    return key if shares == 1 else jax.random.fold_in(key, jax.lax.axis_index(_SHARES))


def mean_of_shares(tree: Tree, shares: int) -> Tree:
    """Return the mean over the devices that share a run, inside it."""
    return tree if shares == 1 else jax.lax.pmean(tree, _SHARES)


def replicate(shared: Tree, num_runs: int, *, shares: int = 1) -> Tree:
    """Copy shared data to every device, or worker; call it once before a loop over ``map_runs``."""
    if are_dealt(num_runs):
        return keep(shared)
    return _copied(shared, _mesh(_devices_for(num_runs), shares))


def unchanging(runs: Tree) -> Tree:
    """Send these parts of runs to workers once; call it once before a loop over ``map_runs``."""
    return keep(runs) if are_dealt(jax.tree.leaves(runs)[0].shape[0]) else runs


def _copied(shared: Tree, mesh: Mesh) -> Tree:
    arrays, rest = eqx.partition(shared, eqx.is_array)
    return eqx.combine(jax.device_put(arrays, NamedSharding(mesh, PartitionSpec())), rest)


def gather(tree: Tree) -> Tree:
    """Return the results of a fleet as NumPy arrays."""
    return jax.device_get(tree)


def _have_processes(num_runs: int) -> bool:
    return num_runs > 1 and are_several()


def _devices_for(num_runs: int) -> int:
    """Return the fewest devices that are as fast as all: six runs need three devices, not four."""
    most_on_one = -(-num_runs // jax.local_device_count())
    return -(-num_runs // most_on_one)


def _mesh(num_devices: int, shares: int = 1) -> Mesh:
    devices = np.asarray(jax.local_devices()[: num_devices * shares])
    if shares == 1:
        return Mesh(devices, (_AXIS,))
    return Mesh(devices.reshape(num_devices, shares), (_AXIS, _SHARES))


@cache
def _compiled(all_busy: bool) -> Callable[[Callable, Any, Any, Array, Mesh], Any]:
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


def _on_every_device(function: Callable, shared: Any, runs: Any, loads: Array, mesh: Mesh) -> Any:
    side_by_side = jax.default_backend() != "cpu"
    # Arrays inside `function` or `shared` are inputs of the program, everything else is static.
    shared_arrays, static = eqx.partition((function, shared), eqx.is_array)

    def on_one_device(shared_arrays: Any, runs: Any, loads: Array) -> Any:
        one, all_see = eqx.combine(shared_arrays, static)
        go = lambda run: one(all_see, run)  # noqa: E731
        return jax.vmap(go)(runs) if side_by_side else _one_by_one(go, runs, loads[0])

    each, everywhere = PartitionSpec(_AXIS), PartitionSpec()
    sharded = jax.shard_map(
        on_one_device, mesh=mesh, in_specs=(everywhere, each, each), out_specs=each, check_vma=False
    )
    return sharded(shared_arrays, runs, loads)


def _one_by_one(go: Callable[[Any], Tree], runs: Any, number: Array) -> Tree:
    """Return the results of runs that follow one another, inside a compiled function.

    Their number is an input of the program: a loop that were known to end after one run would be
    compiled into another program, whose results differ in the last bits.
    """

    def run(place: Array, results: Any) -> Any:
        one = go(jax.tree.map(lambda leaf: leaf[place], runs))
        return jax.tree.map(lambda leaf, new: leaf.at[place].set(new), results, one)

    size = jax.tree.leaves(runs)[0].shape[0]
    first = jax.tree.map(lambda leaf: leaf[0], runs)
    like = jax.eval_shape(go, first)
    empty = jax.tree.map(lambda leaf: jnp.zeros((size, *leaf.shape), leaf.dtype), like)
    return jax.lax.fori_loop(0, number, run, empty)
