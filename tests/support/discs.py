"""A folder of small images of discs, and a table of their sizes."""

from pathlib import Path

import numpy as np
import pandas
from PIL import Image

SIDE = 16


def disc(radius: float, brightness: float) -> np.ndarray:
    """Return a grey image of a disc in the middle."""
    places = np.arange(SIDE) - (SIDE - 1) / 2
    inside = np.hypot(places[:, None], places[None, :]) <= radius
    return np.round(brightness * inside).astype(np.uint8)


def write_discs(folder: Path, num_images: int = 40, seed: int = 0) -> pandas.DataFrame:
    """Write grey PNG files of discs; return their names and radii, with a column of no use."""
    rng = np.random.default_rng(seed)
    radius = rng.uniform(2, 7, num_images).round(2)
    names = [f"disc_{number:02}.png" for number in range(num_images)]
    folder.mkdir(parents=True, exist_ok=True)
    for name, one in zip(names, radius, strict=True):
        Image.fromarray(disc(one, rng.uniform(150, 255))).save(folder / name)
    return pandas.DataFrame({"file": names, "radius": radius, "operator": "A"})
