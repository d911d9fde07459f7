"""Pictures in one HDF5 file, read some at a time."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from vebnn.datasets.images.pool import Pool
from vebnn.datasets.images.whole_arrays import channels_last

BLOCK = 4096  # pictures; a compressed file is decompressed almost whole for every block


def read_hdf5(path: Path, *keys: str) -> list[np.ndarray]:
    """Return arrays of an HDF5 file that fit into memory."""
    with _opened(path, *keys) as file:
        return [file[key][:] for key in keys]


def hdf5_pool(path: Path, images: str, targets: str) -> Pool:
    """Return the pictures of a file, by the names of its arrays."""
    with _opened(path, images, targets) as file:
        y = file[targets][:].reshape(-1)
    return Pool(y, lambda rows: _blocks(path, images, rows))


def _blocks(path: Path, key: str, rows: np.ndarray) -> Iterator[np.ndarray]:
    with _opened(path, key) as file:
        for start in range(0, len(rows), BLOCK):
            # HDF5 reads rows in ascending order only.
            ascending, place = np.unique(rows[start : start + BLOCK], return_inverse=True)
            yield channels_last(file[key][ascending])[place]


def _opened(path: Path, *keys: str) -> Any:
    try:
        file = _h5py().File(path, "r")
    except OSError as error:
        raise ValueError(f"The file {path} is damaged or not an HDF5 file.") from error
    if missing := [key for key in keys if key not in file]:
        file.close()
        raise ValueError(f"The file {path} must hold {', '.join(keys)}. It lacks {missing[0]}.")
    return file


def _h5py() -> ModuleType:
    try:
        import h5py
    except ImportError as error:
        raise ImportError("HDF5 files need h5py: pip install 'vebnn[images]'.") from error
    return h5py
