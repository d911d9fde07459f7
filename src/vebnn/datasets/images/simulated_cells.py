"""Cells that ``vebnn simulate cells`` made."""

from pathlib import Path

from vebnn.datasets.images.conversion import SPLITS, Parts
from vebnn.datasets.images.npz import read_npz
from vebnn.datasets.images.source import Source, all_or_none
from vebnn.datasets.images.whole_arrays import part_of_arrays

FILE = "cells.npz"


def _read(folder: Path) -> Parts:
    path = folder / FILE
    keys = [f"{split}_{kind}" for split in SPLITS for kind in ("images", "counts")]
    way_out = f"make it again with `vebnn simulate cells --out {folder}`"
    arrays = iter(read_npz(path, keys, way_out))
    return Parts(*(part_of_arrays(path, next(arrays), next(arrays)) for _ in SPLITS))


SIMULATED_CELLS = Source(
    f"{FILE}, made by `vebnn simulate cells --out FOLDER`",
    lambda folder: all_or_none([folder / FILE]),
    _read,
)
