"""Rows that stay with the host: data larger than a device's memory.

A step of a compiled program asks for the rows of its batch, and gets them from a NumPy array, which
may be mapped from a file.
"""

from typing import Any

import jax
import numpy as np

from vebnn.core.types import Array, SomeDataset

MOST_OF_DEVICE = 0.5  # of its memory for rows; networks and their gradients need the rest


@jax.tree_util.register_static
class HostRows:
    """An array of which a compiled program sees only the rows that it asks for.

    It is a static part of that program: other data are another program.
    """

    def __init__(self, rows: np.ndarray) -> None:
        self._rows = rows
        self.shape, self.dtype, self.ndim = rows.shape, rows.dtype, rows.ndim

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, numbers: Array) -> Array:
        """Return the rows of these numbers, inside a compiled function."""
        found = jax.ShapeDtypeStruct((*numbers.shape, *self.shape[1:]), self.dtype)
        return jax.pure_callback(self._read, found, numbers, vmap_method="expand_dims")

    def _read(self, numbers: Any) -> np.ndarray:
        return np.ascontiguousarray(self._rows[np.asarray(numbers)])


def stream_if_large(data: SomeDataset) -> SomeDataset:
    """Return data whose inputs stay with the host if they are large for a device."""
    memory = device_memory()
    if memory is None or data.x.nbytes <= MOST_OF_DEVICE * memory:
        return data
    return data._replace(x=HostRows(np.asarray(data.x)))  # type: ignore[return-value]


def device_memory() -> int | None:
    """Return the bytes of a device; None where it uses the host's, as a CPU does."""
    return (jax.local_devices()[0].memory_stats() or {}).get("bytes_limit")
