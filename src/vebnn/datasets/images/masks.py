"""Masks whose marked pixels are counted."""

from pathlib import Path

import numpy as np

from vebnn.datasets.images.folder import read_images


def read_mask(path: Path, size: int) -> np.ndarray:
    """Return which pixels are marked, (size, size), by the nearest pixel above and to the left."""
    mask = read_images([path], channels=1)[0, ..., 0]
    rows, columns = (np.arange(size) * length // size for length in mask.shape)
    return mask[np.ix_(rows, columns)] > 0
