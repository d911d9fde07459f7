"""Pictures that are not split yet: their targets, and a way to read some of them."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from vebnn.datasets.images.conversion import Part
from vebnn.datasets.images.whole_arrays import channels_last

BLOCK = 1024  # pictures


class Pool(NamedTuple):
    """All pictures of a source."""

    y: np.ndarray  # (n,)
    blocks: Callable[[np.ndarray], Iterable[np.ndarray]]  # the pictures of these rows, in this order

    def part(self, rows: np.ndarray) -> Part:
        """Return the split with these rows."""
        return Part(self.blocks(rows), self.y[rows])


def split_off(
    rows: np.ndarray, share: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Shuffle rows, and return those for training and the share for validation."""
    shuffled = rng.permutation(rows)
    end = int((1 - share) * len(rows))
    return shuffled[:end], shuffled[end:]


def hdf5_blocks(path: Path, key: str, rows: np.ndarray) -> Iterator[np.ndarray]:
    """Yield rows of an array of pictures in an HDF5 file, some at a time."""
    with open_hdf5(path) as file:
        images = file[key]
        for start in range(0, len(rows), BLOCK):
            # HDF5 reads rows in ascending order only.
            ascending, place = np.unique(rows[start : start + BLOCK], return_inverse=True)
            yield channels_last(images[ascending][place])


def open_hdf5(path: Path) -> Any:
    """Open an HDF5 file to read it."""
    try:
        return _h5py().File(path, "r")
    except OSError as error:
        raise ValueError(f"The file {path} is damaged or not an HDF5 file.") from error


def read_hdf5(path: Path, *keys: str) -> list[np.ndarray]:
    """Return arrays of an HDF5 file that fit into memory."""
    with open_hdf5(path) as file:
        if missing := [key for key in keys if key not in file]:
            raise ValueError(f"The file {path} must hold {', '.join(keys)}. It lacks {missing[0]}.")
        return [file[key][:] for key in keys]


def _h5py() -> ModuleType:
    try:
        import h5py
    except ImportError as error:
        raise ImportError("HDF5 files need h5py: pip install 'vebnn[images]'.") from error
    return h5py
