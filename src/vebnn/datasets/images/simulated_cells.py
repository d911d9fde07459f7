"""Cells that ``vebnn simulate cells`` made."""

from pathlib import Path

import numpy as np

from vebnn.datasets.images.conversion import SPLITS, Part, Parts
from vebnn.datasets.images.prepared import channels_last
from vebnn.datasets.images.source import Source, all_or_none

FILE = "cells.npz"


def _read(folder: Path) -> Parts:
    path = folder / FILE
    keys = [f"{split}_{kind}" for split in SPLITS for kind in ("images", "counts")]
    with np.load(path) as file:
        if missing := [key for key in keys if key not in file]:
            raise ValueError(
                f"The file {path} must hold the arrays {', '.join(keys)}. It lacks "
                f"{', '.join(missing)}: make it again with `vebnn simulate cells --out {folder}`."
            )
        arrays = {key: file[key] for key in keys}
    parts = (
        Part([channels_last(arrays[f"{split}_images"])], arrays[f"{split}_counts"]) for split in SPLITS
    )
    return Parts(*parts)


SIMULATED_CELLS = Source(
    f"{FILE}, made by `vebnn simulate cells --out FOLDER`",
    lambda folder: all_or_none([folder / FILE]),
    _read,
)
