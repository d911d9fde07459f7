"""Rows that stay with the host: data larger than the memory of a device, or of the host itself.

A step of a compiled program asks for the rows of its batch, and gets them from a NumPy array, which
may be mapped from a file.
"""

import mmap
from typing import Any

import jax
import numpy as np

from vebnn.core.types import AnyDataset, Array, SomeDataset

MOST_OF_DEVICE = 0.5  # of its memory for rows; networks and their gradients need the rest
MOST_MAPPED = 2**26  # bytes of a file that may be mapped before its pages are given back
PAGES = 2**21  # bytes that the system may map to read one row


@jax.tree_util.register_static
class HostRows:
    """An array of which a compiled program sees only the rows that it asks for.

    It is a static part of that program: other data are another program.

    Args:
      rows: the array.
      shuffled: whether the rows are in random order: neighbours may then share a batch, which reads
        consecutive places of a file.
    """

    def __init__(self, rows: np.ndarray, *, shuffled: bool = False) -> None:
        self._rows, self.shuffled = rows, shuffled
        self.shape, self.dtype, self.ndim = rows.shape, rows.dtype, rows.ndim
        # Of a copy on write, giving pages back would undo the writes.
        self._mapped = getattr(rows, "_mmap", None) if getattr(rows, "mode", "") == "r" else None
        self._bytes_mapped = 0

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, numbers: Array) -> Array:
        """Return the rows of these numbers, inside a compiled function."""
        found = jax.ShapeDtypeStruct((*numbers.shape, *self.shape[1:]), self.dtype)
        return jax.pure_callback(self._read, found, numbers, vmap_method="expand_dims")

    def on_host(self, numbers: Any) -> np.ndarray:
        """Return some rows, by their numbers or as a slice, outside of compiled functions."""
        if isinstance(numbers, slice):
            found = np.array(self._rows[numbers])
            self._give_back(found.nbytes + PAGES)
            return found
        flat = np.asarray(numbers).ravel()
        found = np.empty((flat.size, *self.shape[1:]), self.dtype)
        span = int(np.ptp(flat) + 1) * found[:1].nbytes if flat.size else 0
        # Rows that lie far apart are read some at a time.
        size = max(1, flat.size if span <= MOST_MAPPED else MOST_MAPPED // PAGES)
        for start in range(0, flat.size, size):
            some = flat[start : start + size]
            found[start : start + size] = self._rows[some]
            self._give_back(min(span + PAGES, some.size * PAGES))
        return found.reshape(*np.shape(numbers), *self.shape[1:])

    def release(self) -> None:
        """Let go of the array, which the compiled programs that know it would keep in memory."""
        self._rows, self._mapped = np.zeros(0), None

    def _give_back(self, num_bytes: int) -> None:
        """Count what may be mapped of a file; give its pages back when there are many.

        The system would keep all pages that were ever read in the memory of this process.
        """
        self._bytes_mapped += num_bytes
        if self._bytes_mapped >= MOST_MAPPED:
            self._bytes_mapped = 0
            if self._mapped is not None and hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
                self._mapped.madvise(mmap.MADV_DONTNEED)

    def _read(self, numbers: Any) -> np.ndarray:
        return self.on_host(np.asarray(numbers))


def stream_if_large(data: SomeDataset) -> SomeDataset:
    """Return data whose inputs stay with the host if they are large for a device.

    If they do already, there are so many rows that targets stay, too, until :func:`release`.
    """
    if isinstance(data.x, HostRows):
        others = (HostRows(np.asarray(leaf)) for leaf in data[1:])
        return type(data)(data.x, *others)
    memory = device_memory()
    if memory is None or data.x.nbytes <= MOST_OF_DEVICE * memory:
        return data
    return data._replace(x=HostRows(np.asarray(data.x)))  # type: ignore[return-value]


def release(data: AnyDataset) -> None:
    """Let go of the targets that :func:`stream_if_large` left with the host: a stage has ended."""
    for leaf in data[1:]:
        if isinstance(leaf, HostRows):
            leaf.release()


def on_host(data: SomeDataset, rows: np.ndarray) -> SomeDataset:
    """Return some rows as arrays, outside of compiled functions."""
    x = data.x.on_host(rows) if isinstance(data.x, HostRows) else data.x[rows]
    others = (leaf[rows] for leaf in data[1:])
    return type(data)(x, *others)


def device_memory() -> int | None:
    """Return the bytes of a device; None where it uses the host's, as a CPU does."""
    return (jax.local_devices()[0].memory_stats() or {}).get("bytes_limit")
