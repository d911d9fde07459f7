"""Buildings from above (Maggiori et al. 2017): the target is the area of buildings in pixels.

Tiles and masks are resized to 1000×1000 and cut into 15×15 patches of 64×64; the target is the number
of marked pixels, and patches without any are left out. Austin and Chicago are for training, with 20 %
of their patches for validation; the test set is western Tyrol, as Gustafsson et al. (2023) have it.

Departures: tiles are made smaller with antialiasing; the scripts of the paper have none.
"""

from pathlib import Path

import numpy as np

from vebnn.datasets.images.conversion import Parts
from vebnn.datasets.images.folder import read_images
from vebnn.datasets.images.masks import read_mask
from vebnn.datasets.images.pool import Pool, split_off
from vebnn.datasets.images.shift import ANOTHER_SOURCE, mark_shifted
from vebnn.datasets.images.source import Source

FOLDER = "AerialImageDataset"
TRAIN_CITIES = ("austin", "chicago")
TEST_CITY = "tyrol-w"
TILE = 1000  # pixels a side, after resizing
SIDE = 64  # of a patch
_PER_SIDE = TILE // SIDE


def _tiles(folder: Path, cities: str | tuple[str, ...]) -> list[Path]:
    tiles = (folder / FOLDER / "train" / "images").glob("*.tif")
    return sorted(path for path in tiles if path.name.startswith(cities))


def _mask(tile: Path) -> Path:
    return tile.parents[1] / "gt" / tile.name


def _files(folder: Path) -> list[Path]:
    tiles = _tiles(folder, (*TRAIN_CITIES, TEST_CITY))
    return [*tiles, *filter(Path.is_file, map(_mask, tiles))]


def _read(folder: Path) -> Parts:
    known, other = _pool(_tiles(folder, TRAIN_CITIES)), _pool(_tiles(folder, TEST_CITY))
    train, validation = split_off(np.arange(len(known.y)), 0.2, np.random.default_rng(0))
    parts = Parts(known.part(train), known.part(validation), other.part(np.arange(len(other.y))))
    return mark_shifted(parts, ANOTHER_SOURCE)


def _pool(tiles: list[Path]) -> Pool:
    # The 14,000 patches of two cities are 170 MB.
    images, areas = [np.empty((0, SIDE, SIDE, 3), np.uint8)], [np.empty(0)]
    for tile in tiles:
        area = _patches(read_mask(_mask(tile), TILE)).sum(axis=(1, 2))
        images.append(_patches(read_images([tile], TILE, channels=3)[0])[area > 0])
        areas.append(area[area > 0])
    all_images = np.concatenate(images)
    return Pool(np.concatenate(areas), lambda rows: [all_images[rows]])


def _patches(tile: np.ndarray) -> np.ndarray:
    """Cut (1000, 1000, ...) into (225, 64, 64, ...), row by row."""
    end = _PER_SIDE * SIDE
    cut = tile[:end, :end].reshape(_PER_SIDE, SIDE, _PER_SIDE, SIDE, *tile.shape[2:])
    return cut.swapaxes(1, 2).reshape(-1, SIDE, SIDE, *tile.shape[2:])


AERIAL = Source(
    f"the folder {FOLDER} with train/images and train/gt of "
    f"https://project.inria.fr/aerialimagelabeling",
    _files,
    _read,
)
