"""Read a pickled pandas table of NumPy arrays without executing anything in the pickle.

The reader accepts only the names that such a table needs (:mod:`vebnn.datasets.pickled_arrays`). The
version of pandas that wrote the file does not matter.
"""

from pathlib import Path
from typing import Any

import numpy as np

from vebnn.datasets import pickled_arrays
from vebnn.datasets.pickle_records import Record
from vebnn.datasets.pickled_arrays import Arrays, called, read_pickle

_FRAME = "pandas.core.frame.DataFrame"
_MANAGER = "pandas.core.internals.managers.BlockManager"
_BLOCK = "pandas._libs.internals._unpickle_block"
_NEW_INDEX = "pandas.core.indexes.base._new_Index"
_INDEX = "pandas.core.indexes.base.Index"
_SLICE = "builtins.slice"

ALLOWED = pickled_arrays.ALLOWED | {_FRAME, _MANAGER, _BLOCK, _NEW_INDEX, _INDEX, _SLICE}
_PLAIN = str | int | float  # cells that are not arrays


def read_frame(path: str | Path) -> dict[str, np.ndarray]:
    """Return the columns of a pickled pandas table, whose cells may be arrays; execute nothing."""
    return read_pickle(path, ALLOWED, "a pickled pandas table", _columns)


def _columns(frame: Any, arrays: Arrays) -> dict[str, np.ndarray]:
    manager = called(frame, _FRAME).state["_mgr"]
    blocks, axes = called(manager, _MANAGER).arguments
    _, index = called(axes[0], _NEW_INDEX).arguments
    names = arrays.build(index["data"])
    if names.ndim != 1 or not all(isinstance(name, _PLAIN) for name in names):
        raise TypeError("columns without a name")
    columns = {}
    for block in blocks:
        values, placement, _ = called(block, _BLOCK).arguments
        values = arrays.build(values)
        positions = _positions(placement, len(names), arrays)
        for row, column in zip(values, positions, strict=True):
            columns[str(names[column])] = _cells(row, arrays)
    return columns


def _positions(placement: Any, total: int, arrays: Arrays) -> list[int]:
    if isinstance(placement, Record) and placement.name == _SLICE:
        return list(range(*slice(*placement.arguments).indices(total)))
    return [int(position) for position in arrays.build(placement)]


def _cells(column: np.ndarray, arrays: Arrays) -> np.ndarray:
    if column.dtype != object:
        return column
    cells = [arrays.build(cell) if isinstance(cell, Record) else cell for cell in column]
    # A list of lists of lists can be larger than any memory, although its pickle is small.
    if not all(cell is None or isinstance(cell, _PLAIN | np.ndarray) for cell in cells):
        raise TypeError("cells that are neither arrays nor plain values")
    return np.fromiter(cells, object, len(column))
