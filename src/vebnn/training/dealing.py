"""Runs of a fit, dealt over the workers of a joblib backend: other processes, a Dask cluster or Ray.

A run is a pure function of its state. A worker gets the state, advances it and returns it, so that any
worker can do the next piece, and the piece of one that died is given to another. Between two pieces
everything is in this process: progress, checkpoints and Ctrl-C are those of a local fit.

Arrays that do not change, such as the data, stay with the workers. They come with the pieces that name
them first; later ones name them by a checksum. A worker that lacks some answers so, and gets them.
"""

import itertools
import pickle
import traceback
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import joblib
import numpy as np
from joblib.externals.loky.backend import reduction

from vebnn.core.workers import Workers, workers_of_fit
from vebnn.serialization.arrays import checksum
from vebnn.training.streaming import HostRows

MOST_LOSSES = 3  # of workers, without a single piece finished in between
FORGET_AFTER = 64  # pieces: a worker forgets an array that none of them has named
# Bytes of an array of all runs. Above, a worker gets only those of the runs that it does.
MOST_WHOLE = 2**26


class _Cluster(NamedTuple):
    workers: Workers
    sent: set[str]  # keys of the arrays that at least one of them was given


_active: ContextVar[_Cluster | None] = ContextVar("workers of the fit under way", default=None)


@contextmanager
def dealt(n_jobs: int | None) -> Iterator[None]:
    """Deal the runs of a fit in this context, if ``n_jobs`` or joblib's active backend say so."""
    with workers_of_fit(n_jobs) as workers:
        token = _active.set(None if workers is None else _Cluster(workers, set()))
        try:
            yield
        finally:
            _active.reset(token)


def are_dealt(num_runs: int = 2) -> bool:
    """Return whether so many runs are dealt; one alone stays in this process."""
    return num_runs > 1 and _active.get() is not None


class Kept:
    """An array that workers keep, or some runs of it. A leaf of a pytree.

    A small one is sent as a whole, so that the next piece of a run can go to another worker.
    """

    def __init__(self, array: np.ndarray, key: str, runs: slice | None = None) -> None:
        self.array, self.key, self.runs = array, key, runs
        self.shape, self.dtype = (array if runs is None else array[runs]).shape, array.dtype

    def __getitem__(self, runs: slice) -> "Kept":
        if self.array.nbytes <= MOST_WHOLE:
            return Kept(self.array, self.key, runs)
        return Kept(self.array[runs], f"{self.key}[{runs.start}]")


def keep(tree: Any) -> Any:
    """Return a pytree whose arrays are sent to a worker only once.

    Raises:
      ValueError: if rows stay with the host.
    """
    on_host = lambda node: isinstance(node, HostRows)  # noqa: E731
    if any(map(on_host, jax.tree.leaves(tree, is_leaf=on_host))):
        raise ValueError(
            "A fit that is dealt over workers needs rows in memory. Got rows that stay in a file; fit "
            "with n_jobs=1."
        )

    def one(leaf: Any) -> Any:
        if not eqx.is_array(leaf):
            return leaf
        array = np.asarray(leaf)
        return Kept(array, checksum("", {"": array}))

    return jax.tree.map(one, tree)


def deal(
    here: Callable[[Any, Any, Any], Any], function: Callable[[Any, Any], Any], shared: Any, runs: Any
) -> Any:
    """Return ``function(shared, run)`` for every run, stacked; each run is one piece of work.

    Args:
      here: importable; does stacked runs in the process that calls it.
      function: what is done with a run.
      shared: pytree that all runs have in common; see :func:`keep`.
      runs: pytree whose arrays have the runs as leading axis.
    """
    cluster = _active.get()
    assert cluster is not None
    common, runs = jax.tree.map(_on_host, ((function, shared), runs))
    num_runs = jax.tree.leaves(eqx.filter(runs, _is_sent))[0].shape[0]
    each = [(*common, jax.tree.map(_one_of(run), runs)) for run in range(num_runs)]
    arrays, static = eqx.partition(each[0], _is_sent)
    leaves = [jax.tree.leaves(eqx.filter(one, _is_sent)) for one in each]
    shapes = tuple(jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves[0])
    values, tree = jax.tree.flatten(static)
    program = _program(here, jax.tree.structure(arrays), tuple(values), tree, shapes)
    results = _finish(cluster, program, leaves)
    return jax.tree.unflatten(program.results, map(_joined, zip(*results, strict=True)))


def _is_sent(leaf: Any) -> bool:
    return isinstance(leaf, Kept) or eqx.is_array(leaf)


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _on_host(leaf: Any) -> Any:
    return np.asarray(leaf) if eqx.is_array(leaf) and not _is_key(leaf) else leaf


def _one_of(run: int) -> Callable[[Any], Any]:
    return lambda leaf: leaf[run : run + 1] if _is_sent(leaf) else leaf


def _joined(parts: Sequence[Any]) -> Any:
    return jnp.concatenate(parts) if _is_key(parts[0]) else np.concatenate(parts)


class _Program(NamedTuple):
    """What is done with each run: everything that is no array."""

    code: bytes
    key: str
    results: Any  # the tree of the results


@lru_cache(maxsize=32)
def _program(here: Any, structure: Any, values: tuple, tree: Any, shapes: tuple) -> _Program:
    """Return a program; functions in the tree of its results are those of this process."""
    static = jax.tree.unflatten(tree, values)

    def one(*leaves: Any) -> Any:
        function, shared, runs = eqx.combine(jax.tree.unflatten(structure, leaves), static)
        return function(shared, jax.tree.map(lambda leaf: leaf[0], runs))

    numbers = jax.tree.unflatten(structure, range(len(shapes)))
    code = bytes(reduction.dumps((here, numbers, static)))  # by cloudpickle
    return _Program(code, sha256(code).hexdigest(), jax.tree.structure(jax.eval_shape(one, *shapes)))


@dataclass(slots=True)
class _Piece:
    """A run for a worker. Neither Dask nor Ray keep so small an object when it is done."""

    code: bytes
    key: str
    leaves: bytes  # arrays, or the keys of those that are kept
    sent: tuple[str, ...]  # keys of arrays that come with it

    @classmethod
    def of(cls, program: _Program, leaves: list[Any], sent: tuple[str, ...]) -> "_Piece":
        """Return a piece of a program."""
        named = [_Name(leaf.key, leaf.runs) if isinstance(leaf, Kept) else leaf for leaf in leaves]
        return cls(program.code, program.key, pickle.dumps(named), sent)


class _Name(NamedTuple):
    """A kept array, or some runs of it."""

    key: str
    runs: slice | None

    def array(self) -> Any:
        """Return it, in a worker; a part without a program of its own to cut it."""
        array = _kept[self.key]
        return array if self.runs is None else np.asarray(array)[self.runs]


class _Lacking(NamedTuple):
    """The answer of a worker that has not kept these arrays."""

    keys: tuple[str, ...]


class _Failed(NamedTuple):
    """The answer of a worker whose program failed."""

    trace: str


def _finish(cluster: _Cluster, program: _Program, leaves: list[list[Any]]) -> list[list[Any]]:
    """Return the results of all pieces; those of lost workers are done again."""
    workers, sent_before = cluster
    kept = {leaf.key: leaf.array for one in leaves for leaf in one if isinstance(leaf, Kept)}
    results: dict[int, list[Any]] = {}
    lacking = {number: _keys(one, sent_before) for number, one in enumerate(leaves)}
    sent_before.update(kept)
    losses = 0
    while len(results) < len(leaves):
        tasks = [
            joblib.delayed(_work)(number, _Piece.of(program, one, sent), *(kept[key] for key in sent))
            for number, one in enumerate(leaves)
            if number not in results
            for sent in [lacking[number]]
        ]
        failed = None
        try:
            with workers.results(tasks) as answers:
                for number, answer in answers:
                    if isinstance(answer, _Failed):
                        failed = answer
                    elif isinstance(answer, _Lacking):
                        lacking[number] = answer.keys
                    else:
                        results[number], losses = answer, 0
        except Exception as error:  # each backend has its own for a worker that died
            losses += 1
            if losses == MOST_LOSSES:
                raise ChildProcessError(
                    f"Workers were lost {losses} times in a row, perhaps for lack of memory: {error} "
                    f"Fit with fewer workers, or with n_jobs=1."
                ) from error
            workers.restart()
        if failed is not None:
            raise RuntimeError(f"A worker could not do its part of the fit:\n{failed.trace}")
    return [results[number] for number in range(len(leaves))]


def _keys(leaves: list[Any], known: Container[str]) -> tuple[str, ...]:
    """Return the keys of kept arrays that are not known, each once."""
    keys = (leaf.key for leaf in leaves if isinstance(leaf, Kept | _Name) and leaf.key not in known)
    return tuple(dict.fromkeys(keys))


# In a worker: arrays by their key, when each was last named, and programs.
_kept: dict[str, jax.Array] = {}
_named: dict[str, int] = {}
_pieces = itertools.count()
_load = lru_cache(maxsize=32)(lambda key, code: pickle.loads(code))


def _work(number: int, piece: _Piece, *arrays: np.ndarray) -> tuple[int, Any]:
    """Do a piece, in a worker."""
    for key, array in zip(piece.sent, arrays, strict=True):
        if key not in _kept:
            _kept[key] = jnp.array(array)  # a copy: shared memory of joblib is gone after this call
    try:
        leaves = pickle.loads(piece.leaves)
        if lacking := _keys(leaves, _kept):
            return number, _Lacking(lacking)
        named = _keys(leaves, ())
        leaves = [leaf.array() if isinstance(leaf, _Name) else leaf for leaf in leaves]
        _forget(named)
        here, numbers, static = _load(piece.key, piece.code)
        arrays = jax.tree.unflatten(jax.tree.structure(numbers), leaves)
        results = here(*eqx.combine(arrays, static))
        return number, jax.tree.map(_on_host, jax.tree.leaves(results))
    except Exception:
        return number, _Failed(traceback.format_exc())


def _forget(keys: tuple[str, ...]) -> None:
    """Forget arrays that no piece has named for a long time."""
    now = next(_pieces)
    _named.update(dict.fromkeys(keys, now))
    for key in [key for key, last in list(_named.items()) if now - last > FORGET_AFTER]:
        _named.pop(key, None)
        _kept.pop(key, None)
