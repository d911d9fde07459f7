"""What every set of images is: pictures, targets and, where it is known, the truth."""

from typing import NamedTuple

import numpy as np


class Images(NamedTuple):
    """Pictures and their targets."""

    x: np.ndarray  # (n, height, width, channels) uint8; may be memory-mapped
    y: np.ndarray  # (n,) float64
    mean: np.ndarray | None = None  # (n,) true mean, where known
    noise_std: np.ndarray | None = None  # (n,) true std of the noise, where known
    shifted: np.ndarray | None = None  # (n,) bool: outside the training distribution (test sets)


class ImageDataset(NamedTuple):
    """One set by name, split."""

    name: str
    train: Images
    validation: Images
    test: Images
