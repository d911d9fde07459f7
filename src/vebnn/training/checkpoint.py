"""Checkpoints: the state of every stage on disk, so that an interrupted fit can be resumed."""

import hashlib
import re
import time
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

import vebnn
from vebnn.serialization.files import read_arrays, write_arrays

State = TypeVar("State")
_SUFFIX = ".stage.safetensors"


class Checkpoint:
    """Keeps the state of every stage in a folder until the work is finished.

    Stages run in a fixed order from a fixed key, so going through them again, each from where it
    was, gives exactly what an uninterrupted run would have given.

    Args:
      folder: where to keep the files.
      fingerprint: a digest of all that decides the result; see :func:`fingerprint`.
      seconds: the least time between two writes of a stage; its end and Ctrl-C are always written.
    """

    def __init__(self, folder: str | Path, fingerprint: str, seconds: float = 5.0) -> None:
        self._folder = Path(folder)
        self._fingerprint = fingerprint
        self._seconds = seconds
        self._last_write = time.monotonic()
        self._unwritten: tuple[str, Any] | None = None

    def restore(self, stage: str, state: State) -> State:
        """Return the saved state of the stage, if there is one.

        Raises:
          ValueError: if it belongs to other data or settings.
        """
        path = self._path(stage)
        if not path.exists():
            return state
        arrays, metadata = read_arrays(path)
        if metadata.get("fingerprint") != self._fingerprint:
            raise ValueError(
                f"The `checkpoint` in {self._folder} was made with other data, settings or "
                f"random_state. Delete the folder or choose another one."
            )
        leaves, structure = jax.tree.flatten(state)
        saved = [_like(arrays[str(number)], leaf) for number, leaf in enumerate(leaves)]
        return jax.tree.unflatten(structure, saved)

    def report(self, stage: str, state: Any, done: int, total: int, message: str) -> None:
        """Save the state of the stage, if it is time to."""
        self._unwritten = (stage, state)
        if done >= total or time.monotonic() - self._last_write >= self._seconds:
            self._write()

    def close(self, finished: bool) -> None:
        """Forget what is finished; keep what was interrupted."""
        if not finished:
            self._write()
            return
        for path in self._folder.glob(f"*{_SUFFIX}"):
            path.unlink()
        if self._folder.exists() and not any(self._folder.iterdir()):
            self._folder.rmdir()

    def _write(self) -> None:
        if self._unwritten is None:
            return
        stage, state = self._unwritten
        arrays = {str(number): _plain(leaf) for number, leaf in enumerate(jax.tree.leaves(state))}
        write_arrays(self._path(stage), arrays, {"fingerprint": self._fingerprint})
        self._unwritten, self._last_write = None, time.monotonic()

    def _path(self, stage: str) -> Path:
        name = "".join(letter if letter.isalnum() else "-" for letter in stage.lower())
        return self._folder / f"{name}{_SUFFIX}"


def fingerprint(settings: Any, data: Any, seed: int) -> str:
    """Return a digest of all that decides what a fit computes.

    Args:
      settings: its repr is taken, without the addresses of functions, which change from process to
        process; arrays in networks of the user's own are taken whole.
      data: pytree of arrays.
      seed: of the random numbers.
    """
    words = re.sub(r" at 0x[0-9a-f]+", "", repr((vebnn.__version__, settings, seed)))
    digest = hashlib.sha256(words.encode())
    networks = (settings.network, settings.variance_network)
    for leaf in jax.tree.leaves((data, networks)):
        if isinstance(leaf, np.ndarray | jax.Array):
            digest.update(repr((leaf.shape, leaf.dtype)).encode() + _plain(leaf).tobytes())
    return digest.hexdigest()


def _plain(leaf: Any) -> np.ndarray:
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf)


def _like(saved: np.ndarray, leaf: Any) -> Any:
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jnp.asarray(saved))
    return jnp.asarray(saved, leaf.dtype)
