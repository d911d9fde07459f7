"""Checkpoints: the state of every stage on disk, so that an interrupted fit can be resumed."""

import os
import re
import time
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

import vebnn
from vebnn.serialization.arrays import checksum, read_part, write_part
from vebnn.serialization.checkpoints import CheckpointFolder
from vebnn.serialization.trees import arrays_of, fill
from vebnn.training.function_code import function_code
from vebnn.training.processes import are_several
from vebnn.training.stage import Observer

State = TypeVar("State")


class Checkpoint(Observer):
    """Keeps the state of every stage in a folder until the fit is finished, or longer.

    Stages run in a fixed order from a fixed key, so resuming each of them from its saved state gives
    exactly the result of an uninterrupted run.

    Args:
      folder: for the files, one per stage; those of a :class:`CheckpointFolder` are kept.
      fingerprint: a digest of all that decides the result; see :func:`fingerprint`.
      seconds: the least time between two writes of a stage; its end and Ctrl-C always write.
    """

    def __init__(self, folder: str | os.PathLike[str], fingerprint: str, seconds: float = 5.0) -> None:
        if are_several():
            raise ValueError(
                "A fit in several processes of jax.distributed has no `checkpoint`. Leave it out, or "
                "fit on a cluster of Dask or Ray."
            )
        self._kept = isinstance(folder, CheckpointFolder)
        self._folder = CheckpointFolder(Path(folder))
        self._fingerprint = fingerprint
        self._seconds = seconds
        self._last_write = time.monotonic()
        self._unwritten: tuple[str, Any] | None = None

    def restore(self, stage: str, state: State) -> State:
        """Return the saved state of the stage, if there is one.

        Raises:
          ValueError: if it is damaged, or belongs to other data, settings or another version.
        """
        path = self._folder.path(stage)
        if not path.exists():
            return state
        arrays = read_part(path, self._fingerprint, "`checkpoint`")
        try:
            return jax.tree.map(jnp.asarray, fill("state", state, arrays))
        except ValueError:
            raise ValueError(
                f"The `checkpoint` {path} lacks arrays of this stage or has others. Delete the folder "
                f"{self._folder} and fit again."
            ) from None

    def report(self, stage: str, state: Any, done: int, total: int, message: str) -> None:
        """Save the state of the stage if the last write is long ago or the stage is finished."""
        self._unwritten = (stage, state)
        if done >= total or time.monotonic() - self._last_write >= self._seconds:
            self._write()

    def close(self, finished: bool) -> None:
        """Delete the files of a finished fit; write the last state of an interrupted one."""
        if not finished:
            self._write()
        elif not self._kept:
            self._folder.delete()

    def _write(self) -> None:
        if self._unwritten is None:
            return
        stage, state = self._unwritten
        write_part(self._folder.path(stage), arrays_of("state", state), self._fingerprint)
        self._unwritten, self._last_write = None, time.monotonic()


def fingerprint(settings: Any, data: Any, seed: int) -> str:
    """Return a digest of all that decides what a fit computes; ``data`` is a pytree of arrays.

    Settings enter by their repr, without the addresses of functions, which differ between processes.
    Functions and arrays in a user's own networks enter whole.
    """
    code = function_code(settings)
    words = re.sub(r" at 0x[0-9a-f]+", "", repr((vebnn.__version__, settings, seed, code)))
    leaves = jax.tree.leaves((data, settings.network, settings.variance_network))
    arrays = [leaf for leaf in leaves if isinstance(leaf, np.ndarray | jax.Array)]
    return checksum(words, arrays_of("", arrays))
