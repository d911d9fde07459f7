"""The pickles that the scripts of Gustafsson et al. (2023) prepare.

"How Reliable is Your Regression Model's Uncertainty Under Real-World Distribution Shifts?". A set is a
folder with ``{images,labels}_{train,val,test}.pkl``. They are read without executing anything in them.
"""

from pathlib import Path

import numpy as np

from vebnn.datasets.images.conversion import Part, Parts
from vebnn.datasets.images.shift import Shift
from vebnn.datasets.images.source import Source, all_or_none
from vebnn.datasets.pickled_arrays import read_array

REPOSITORY = "https://github.com/fregu856/regression_uncertainty"
_SPLITS = ("train", "val", "test")


def prepared(name: str, shift: Shift | None = None, blue_first: bool = False) -> Source:
    """Return the source of a set whose pickles are in the folder ``name``.

    Args:
      name: of the folder, as in the repository.
      shift: says which test pictures are outside the training distribution.
      blue_first: whether the channels are blue, green, red, as OpenCV has them.
    """

    def files(folder: Path) -> list[Path]:
        kinds = ("images", "labels")
        return all_or_none([_path(folder / name, kind, split) for split in _SPLITS for kind in kinds])

    def read(folder: Path) -> Parts:
        train, validation, test = (_part(folder / name, split, blue_first) for split in _SPLITS)
        shifted = None if shift is None else shift.outside(test.y)
        return Parts(train, validation, test._replace(shifted=shifted))

    words = f"{name}/{{images,labels}}_{{train,val,test}}.pkl as the scripts of {REPOSITORY} write them"
    return Source(words, files, read)


def _path(folder: Path, kind: str, split: str) -> Path:
    return folder / f"{kind}_{split}.pkl"


def _part(folder: Path, split: str, blue_first: bool) -> Part:
    path = _path(folder, "images", split)
    images, labels = read_array(path), read_array(_path(folder, "labels", split))
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or labels.shape != images.shape[:1]:
        raise ValueError(
            f"The file {path} must hold images of bytes, (n, 64, 64) or with three channels, and its "
            f"labels one number for each. Got {images.dtype} of shape {images.shape}, and labels of "
            f"shape {labels.shape}."
        )
    images = channels_last(images)
    return Part([images[..., ::-1] if blue_first else images], labels)


def channels_last(images: np.ndarray) -> np.ndarray:
    """Return images with the axis of channels at the end, whether they have it first, last or not."""
    if images.ndim == 3:
        return images[..., None]
    return images if images.shape[-1] in (1, 3) else np.moveaxis(images, 1, -1)
