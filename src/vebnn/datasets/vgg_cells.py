"""The VGG cell images: 200 synthetic microscope images with known counts, made by others.

Of Lempitsky and Zisserman (2010), "Learning to count objects in images". They are read from
``images/cells-vgg.npz`` in the folder that ``VEBNN_DATA`` names.
"""

from typing import NamedTuple

import numpy as np

from vebnn.datasets.own_files import FOLDER_VARIABLE, own_file

FILE = "images/cells-vgg.npz"


class VGGCells(NamedTuple):
    """Images and how many cells each shows."""

    images: np.ndarray  # (200, 256, 256), uint8
    counts: np.ndarray  # (200,), from 74 to 317


def load_vgg_cells() -> VGGCells:
    """Read the images.

    Raises:
      FileNotFoundError: if the file is missing; the message says how to make it.
      ValueError: if it holds other arrays.
    """
    path = own_file(FILE)
    if path is None or not path.is_file():
        looked = f"{FOLDER_VARIABLE} is not set" if path is None else f"{path} does not exist"
        raise FileNotFoundError(
            f"The VGG cell images were not found, because {looked}: save their grey values as `images` "
            f"(uint8, images × height × width) and their numbers of cells as `counts` in {FILE} in a "
            f"folder, and set {FOLDER_VARIABLE} to that folder."
        )
    with np.load(path, allow_pickle=False) as file:
        images, counts = (file[name] if name in file else np.empty(0) for name in VGGCells._fields)
    if images.ndim != 3 or images.dtype != np.uint8 or counts.shape != images.shape[:1]:
        raise ValueError(
            f"The file {path} must hold `images` (uint8, images × height × width) and one of `counts` "
            f"for each. Got {images.dtype} of shape {images.shape}, and {counts.shape}."
        )
    return VGGCells(images, counts)
