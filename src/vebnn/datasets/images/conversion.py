"""Sets of images are converted once, into arrays of bytes that are mapped from then on.

The arrays are in the user's cache folder, because the folder of the sources may be read-only. They are
made again when a source has changed.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vebnn.datasets import uci
from vebnn.datasets.images.npy import write_npy
from vebnn.datasets.images.types import ImageDataset, Images
from vebnn.serialization.files import new_folder

SPLITS = ("train", "validation", "test")
_VERSION = "1"  # of the conversion: another number makes every set anew
_STAMP = "source.txt"
_FILES = frozenset({_STAMP, *(f"{split}_{field}.npy" for split in SPLITS for field in Images._fields)})


class Part(NamedTuple):
    """A split that is not converted yet; the fields are those of ``Images``."""

    blocks: Iterable[np.ndarray]  # of pictures, in order
    y: np.ndarray
    mean: np.ndarray | None = None
    noise_std: np.ndarray | None = None
    shifted: np.ndarray | None = None


class Parts(NamedTuple):
    """A set that is not converted yet."""

    train: Part
    validation: Part
    test: Part


def convert_once(name: str, files: Sequence[Path], read: Callable[[], Parts]) -> ImageDataset:
    """Return a set whose pictures are mapped from the cache folder; convert it the first time.

    Args:
      name: of the set.
      files: the sources; their names, sizes and times decide whether the conversion is up to date.
      read: reads the sources.
    """
    stamp = _stamp(files)
    place = hashlib.sha256(str(files[0].absolute()).encode()).hexdigest()[:12]
    folder = uci.cache_folder() / "images" / f"{name}-{place}"
    if not (folder / _STAMP).is_file() or (folder / _STAMP).read_text() != stamp:
        with new_folder(folder, _FILES) as new:
            for split, part in read()._asdict().items():
                _write(new, split, part)
            (new / _STAMP).write_text(stamp)
    return ImageDataset(name, *(_load(folder, split) for split in SPLITS))


def _stamp(files: Sequence[Path]) -> str:
    digest = hashlib.sha256(_VERSION.encode())
    for path in files:
        stat = path.stat()
        digest.update(f"{path.absolute()}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode())
    return digest.hexdigest()


def _write(folder: Path, split: str, part: Part) -> None:
    if not len(part.y):
        raise ValueError(f"The files have too few images: none is left for {split}.")
    write_npy(folder / f"{split}_x.npy", len(part.y), _checked(part.blocks))
    for field in Images._fields[1:]:
        if (values := getattr(part, field)) is not None:
            dtype = bool if field == "shifted" else np.float64
            np.save(folder / f"{split}_{field}.npy", np.asarray(values, dtype))


def _checked(blocks: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    for block in blocks:
        if block.dtype != np.uint8 or block.ndim != 4:
            raise ValueError(
                f"Images must be bytes (n, height, width, channels). Got {block.dtype} of shape "
                f"{block.shape}."
            )
        yield block


def _load(folder: Path, split: str) -> Images:
    truths = {
        field: np.load(path)
        for field in Images._fields[1:]
        if (path := folder / f"{split}_{field}.npy").is_file()
    }
    return Images(np.load(folder / f"{split}_x.npy", mmap_mode="r"), **truths)
