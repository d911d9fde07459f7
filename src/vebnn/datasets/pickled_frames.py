"""Read a pickled pandas table of NumPy arrays without executing anything in the pickle.

A pickle is a program that names functions and calls them. This reader accepts only the names that such
a table needs, and takes every call as an inert record (:mod:`vebnn.datasets.pickle_records`). It then
builds the arrays from the records, after checks of their sizes and dtypes. The version of pandas that
wrote the file does not matter.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from vebnn.datasets.pickle_records import Record, Refused, read_records

_FRAME = "pandas.core.frame.DataFrame"
_MANAGER = "pandas.core.internals.managers.BlockManager"
_BLOCK = "pandas._libs.internals._unpickle_block"
_NEW_INDEX = "pandas.core.indexes.base._new_Index"
_INDEX = "pandas.core.indexes.base.Index"
_ARRAY = "numpy.ndarray"
_DTYPE = "numpy.dtype"
_SLICE = "builtins.slice"
# Names of NumPy 1 and of NumPy 2.
_RECONSTRUCT = ("numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct")
_FROM_BUFFER = ("numpy.core.numeric._frombuffer", "numpy._core.numeric._frombuffer")

ALLOWED = frozenset(
    {_FRAME, _MANAGER, _BLOCK, _NEW_INDEX, _INDEX, _ARRAY, _DTYPE, _SLICE, *_RECONSTRUCT, *_FROM_BUFFER}
)
_NUMBERS = frozenset({"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"})
_OBJECTS = frozenset({"O", "O4", "O8"})
_BYTE_ORDERS = frozenset("<>=|")
_PLAIN = str | int | float  # cells that are not arrays
_ROOM = 8  # bytes of arrays per byte of the file: a list needs a byte for an item, an array eight


def read_frame(path: str | Path) -> dict[str, np.ndarray]:
    """Return the columns of a pickled pandas table, whose cells may be arrays; execute nothing."""
    path = Path(path)
    try:
        content = path.read_bytes()
        return _columns(read_records(content, ALLOWED), _Arrays(_ROOM * len(content)))
    except Refused as refused:
        raise ValueError(
            f"The file {path} asks for {refused}, which a table of arrays does not need: it was not "
            f"read, and nothing in it was executed."
        ) from None
    except OSError:
        raise
    except Exception as error:  # a damaged pickle can fail in any way
        raise ValueError(f"The file {path} is damaged or not a pickled pandas table.") from error


def _columns(frame: Any, arrays: "_Arrays") -> dict[str, np.ndarray]:
    manager = _called(frame, _FRAME).state["_mgr"]
    blocks, axes = _called(manager, _MANAGER).arguments
    _, index = _called(axes[0], _NEW_INDEX).arguments
    names = arrays.build(index["data"])
    if names.ndim != 1 or not all(isinstance(name, _PLAIN) for name in names):
        raise TypeError("columns without a name")
    columns = {}
    for block in blocks:
        values, placement, _ = _called(block, _BLOCK).arguments
        values = arrays.build(values)
        positions = _positions(placement, len(names), arrays)
        for row, column in zip(values, positions, strict=True):
            columns[str(names[column])] = _cells(row, arrays)
    return columns


def _called(record: Any, *names: str) -> Record:
    if not isinstance(record, Record) or record.name not in names:
        raise TypeError(f"{names} expected")
    return record


def _positions(placement: Any, total: int, arrays: "_Arrays") -> list[int]:
    if isinstance(placement, Record) and placement.name == _SLICE:
        return list(range(*slice(*placement.arguments).indices(total)))
    return [int(position) for position in arrays.build(placement)]


def _cells(column: np.ndarray, arrays: "_Arrays") -> np.ndarray:
    if column.dtype != object:
        return column
    cells = [arrays.build(cell) if isinstance(cell, Record) else cell for cell in column]
    # A list of lists of lists can be larger than any memory, although its pickle is small.
    if not all(cell is None or isinstance(cell, _PLAIN | np.ndarray) for cell in cells):
        raise TypeError("cells that are neither arrays nor plain values")
    return np.fromiter(cells, object, len(column))


class _Arrays:
    """Builds arrays from records, each once, and no more of them than the file can hold."""

    def __init__(self, room: int) -> None:
        self._room = room  # bytes that are left
        self._built: dict[int, np.ndarray] = {}

    def build(self, record: Any) -> np.ndarray:
        """Return the array that a record describes."""
        if id(record) not in self._built:
            self._built[id(record)] = self._build(record)
        return self._built[id(record)]

    def _build(self, record: Any) -> np.ndarray:
        record = _called(record, *_RECONSTRUCT, *_FROM_BUFFER)
        if record.name in _FROM_BUFFER:
            content, dtype, shape, order = record.arguments
        else:
            _, shape, dtype, fortran, content = record.state
            order = "F" if fortran else "C"
        kind = _called(dtype, _DTYPE).arguments[0]
        is_object = isinstance(kind, str) and kind in _OBJECTS
        self._room -= len(content) * (8 if is_object else 1)
        if self._room < 0:
            raise MemoryError("more arrays than the file can hold")
        flat = np.fromiter(content, object, len(content)) if is_object else _numbers(dtype, content)
        if math.prod(shape) != len(flat) or order not in ("C", "F"):
            raise ValueError(f"{len(flat)} values do not fill an array")
        return flat.reshape(shape, order=order)


def _numbers(record: Record, content: Any) -> np.ndarray:
    kind = record.arguments[0]
    _, order, *rest = record.state
    # Only plain numbers: no structured dtypes and no subarrays.
    plain = isinstance(kind, str) and isinstance(order, str) and not any(rest[:3])
    if not plain or kind not in _NUMBERS or order not in _BYTE_ORDERS:
        raise TypeError("numbers of an unknown kind")
    dtype = np.dtype(kind).newbyteorder(order)
    return np.frombuffer(content, dtype).astype(dtype.newbyteorder("="))
