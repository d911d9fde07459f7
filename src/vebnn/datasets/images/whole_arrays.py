"""A split whose pictures come as one array, with or without an axis of channels."""

from pathlib import Path

import numpy as np

from vebnn.datasets.images.conversion import Part


def part_of_arrays(path: Path, images: np.ndarray, y: np.ndarray) -> Part:
    """Return the split, after checks of its arrays.

    Args:
      path: the file of the pictures, for the error.
      images: bytes (n, height, width), or with one or three channels, first or last.
      y: (n,).
    """
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or y.shape != images.shape[:1]:
        raise ValueError(
            f"The file {path} must hold images of bytes, (n, height, width) or with channels, and one "
            f"target for each. Got {images.dtype} of shape {images.shape}, and targets of shape "
            f"{y.shape}."
        )
    return Part([channels_last(images)], y)


def channels_last(images: np.ndarray) -> np.ndarray:
    """Return images with the axis of channels at the end, whether they have it first, last or not."""
    if images.ndim == 3:
        return images[..., None]
    return images if images.shape[-1] in (1, 3) else np.moveaxis(images, 1, -1)
