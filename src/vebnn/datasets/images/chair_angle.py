"""Chair angles from RC-49 (Ding et al. 2021): rendered chairs, turned by 0.1° to 89.9°.

The file says which pictures are for training; their angles have odd last decimals, those of the test
set even ones. 80 % of the first are for training, 20 % for validation. The test set keeps at most 25
pictures of an angle.
"""

from pathlib import Path

import numpy as np

from vebnn.datasets.images.cells import REPOSITORY
from vebnn.datasets.images.conversion import Parts
from vebnn.datasets.images.hdf5 import hdf5_pool, read_hdf5
from vebnn.datasets.images.pool import split_off
from vebnn.datasets.images.shift import Shift, mark_shifted
from vebnn.datasets.images.source import Source, all_or_none

HDF5 = "RC-49_64x64.h5"
MOST_PER_ANGLE = 25


def chair_angles(shift: Shift | None = None) -> Source:
    """Return the source of one file with all pictures."""
    return Source(
        f"{HDF5} of {REPOSITORY}",
        lambda folder: all_or_none([folder / HDF5]),
        lambda folder: _read(folder / HDF5, shift),
    )


def _read(path: Path, shift: Shift | None) -> Parts:
    pool = hdf5_pool(path, "images", "labels")
    (for_training,) = read_hdf5(path, "indx_train")
    rng = np.random.default_rng(0)
    right = (pool.y > 0) & (pool.y < 90)
    trained = np.isin(np.arange(len(right)), for_training)
    inside = right if shift is None else right & shift.inside(pool.y)
    train, validation = split_off(np.flatnonzero(trained & inside), 0.2, rng)
    test = _few_per_angle(np.flatnonzero(~trained & right), pool.y, rng)
    return mark_shifted(Parts(*map(pool.part, (train, validation, test))), shift)


def _few_per_angle(rows: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    shuffled = rng.permutation(rows)
    same = [shuffled[y[shuffled] == angle][:MOST_PER_ANGLE] for angle in np.unique(y[rows])]
    return np.concatenate(same) if same else rows
