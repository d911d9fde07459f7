"""Cells from the raw files of Ding et al. (2021): synthetic fluorescence images, 1 to 200 cells each.

The sizes of the splits are those of Gustafsson et al. (2023): 10,000 for training, 2,000 for validation
and 10,000 for the test, half of it outside the training range where there is one. Files with fewer
pictures are divided in proportion.
"""

import re
from pathlib import Path

import numpy as np

from vebnn.datasets.images.conversion import Parts
from vebnn.datasets.images.folder import image_blocks
from vebnn.datasets.images.hdf5 import hdf5_pool
from vebnn.datasets.images.pool import Pool
from vebnn.datasets.images.shift import Shift, mark_shifted
from vebnn.datasets.images.source import Source, all_or_none

REPOSITORY = "https://github.com/UBCDingXin/improved_CcGAN"
FOLDER = "Cell200"
HDF5 = "Cell200_64x64.h5"
SHAPE = (64, 64, 1)
NUM_TRAIN, NUM_VALIDATION, NUM_TEST = 10_000, 2_000, 10_000
_NAME = re.compile(r"\d+_(\d+(?:\.\d+)?)\.(?:png|jpg|jpeg|tif|tiff)", re.IGNORECASE)  # 12_57.0.png


def cell_files(shift: Shift | None = None) -> Source:
    """Return the source of files that have the count in their name."""
    words = f"the folder {FOLDER} of {REPOSITORY}"
    return Source(words, _files, lambda folder: _split(_file_pool(folder), shift))


def cell_hdf5(shift: Shift | None = None) -> Source:
    """Return the source of one file with all pictures."""
    return Source(
        f"{HDF5} of the same place",
        lambda folder: all_or_none([folder / HDF5]),
        lambda folder: _split(hdf5_pool(folder / HDF5, "IMGs_grey", "CellCounts"), shift),
    )


def _files(folder: Path) -> list[Path]:
    if not (folder / FOLDER).is_dir():
        return []
    return sorted(path for path in (folder / FOLDER).iterdir() if _NAME.fullmatch(path.name))


def _file_pool(folder: Path) -> Pool:
    paths = _files(folder)
    counts = [float(_NAME.sub(r"\1", path.name)) for path in paths]
    return Pool(np.array(counts), lambda rows: image_blocks([paths[row] for row in rows], SHAPE))


def _split(pool: Pool, shift: Shift | None) -> Parts:
    rng = np.random.default_rng(0)
    inside = np.ones(len(pool.y), bool) if shift is None else shift.inside(pool.y)
    num_outside = 0 if shift is None else NUM_TEST // 2
    rows = rng.permutation(np.flatnonzero(inside))
    others = rng.permutation(np.flatnonzero(~inside))[:num_outside]
    train, validation, test = _divide(rows, (NUM_TRAIN, NUM_VALIDATION, NUM_TEST - num_outside))
    splits = train, validation, np.concatenate([test, others])
    return mark_shifted(Parts(*map(pool.part, splits)), shift)


def _divide(rows: np.ndarray, sizes: tuple[int, ...]) -> list[np.ndarray]:
    share = min(1, len(rows) / sum(sizes))
    ends = np.cumsum([int(share * size) for size in sizes])
    return np.split(rows[: ends[-1]], ends[:-1])
