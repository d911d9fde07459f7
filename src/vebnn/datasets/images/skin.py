"""Skin lesions from HAM10000 (Tschandl et al. 2018): the target is the size of the lesion in pixels.

Pictures and masks are resized to 64×64; the target is the number of marked pixels. The test set is one
of the sources of the pictures, ``rosendahl``; of the others, 85 % are for training and 15 % for
validation, as Gustafsson et al. (2023) have it.

Departures: pictures are made smaller with antialiasing; the scripts of the paper have none.
"""

from pathlib import Path

import numpy as np

from vebnn.datasets.images.conversion import Parts
from vebnn.datasets.images.folder import image_blocks
from vebnn.datasets.images.masks import read_mask
from vebnn.datasets.images.pool import Pool, split_off
from vebnn.datasets.images.shift import ANOTHER_SOURCE, mark_shifted
from vebnn.datasets.images.source import Source
from vebnn.datasets.images.tables import read_columns

FOLDER = "ham10000"
MASKS = "HAM10000_segmentations_lesion_tschandl"
TEST_SOURCE = "rosendahl"
SIDE = 64
_METADATA = ("HAM10000_metadata", "HAM10000_metadata.csv")
_PICTURES = ("", "HAM10000_images_part_1", "HAM10000_images_part_2")


def _files(folder: Path) -> list[Path]:
    tables = [path for name in _METADATA if (path := folder / FOLDER / name).is_file()]
    pictures = [path for one in _PICTURES for path in (folder / FOLDER / one).glob("*.jpg")]
    masks = (folder / FOLDER / MASKS).glob("*.png")
    return [*tables, *sorted(pictures), *sorted(masks)] if tables else []


def _read(folder: Path) -> Parts:
    table = read_columns(_files(folder)[0], "image_id", "dataset")
    names = list(table["image_id"])
    paths = [_picture(folder / FOLDER, name) for name in names]
    masks = folder / FOLDER / MASKS
    sizes = [read_mask(masks / f"{name}_segmentation.png", SIDE).sum() for name in names]
    pool = Pool(
        np.array(sizes, float),
        lambda rows: image_blocks([paths[row] for row in rows], (SIDE, SIDE, 3)),
    )
    tested = (table["dataset"] == TEST_SOURCE).to_numpy()
    train, validation = split_off(np.flatnonzero(~tested), 0.15, np.random.default_rng(0))
    parts = Parts(*map(pool.part, (train, validation, np.flatnonzero(tested))))
    return mark_shifted(parts, ANOTHER_SOURCE)


def _picture(folder: Path, name: str) -> Path:
    paths = [folder / one / f"{name}.jpg" for one in _PICTURES]
    return next((path for path in paths if path.is_file()), paths[0])


SKIN = Source(
    f"the folder {FOLDER} with HAM10000_metadata, the pictures and {MASKS} of "
    f"https://doi.org/10.7910/DVN/DBW86T",
    _files,
    _read,
)
