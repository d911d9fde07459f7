"""Read a pickled pandas table of NumPy arrays without executing anything in the pickle.

A pickle is a program that names functions and calls them. This reader accepts only the names that such
a table needs, and replaces every call by an inert record. It then builds the arrays from the records,
after checks of their sizes and dtypes. The version of pandas that wrote the file does not matter.
"""

import math
import pickle
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

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


class _Refused(Exception):
    """The pickle names something that a table of arrays does not need."""


class _Record:
    """One call in a pickle, not executed: the name, the arguments and the state to set."""

    name = ""
    arguments: tuple[Any, ...]
    state: Any

    def __new__(cls, *arguments: Any) -> "_Record":
        record = object.__new__(cls)
        record.arguments, record.state = arguments, None
        return record

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Recorder(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type[_Record]:
        whole = f"{module}.{name}"
        if whole not in ALLOWED:
            raise _Refused(whole)
        # A new class each time: nothing that a file does to it outlives the reading.
        return type("Record", (_Record,), {"name": whole})

    def persistent_load(self, identity: Any) -> NoReturn:
        raise _Refused("something outside of the file")


def read_frame(path: str | Path) -> dict[str, np.ndarray]:
    """Return the columns of a pickled pandas table, whose cells may be arrays; execute nothing."""
    path = Path(path)
    try:
        with open(path, "rb") as file:
            return _columns(_Recorder(file).load())
    except _Refused as refused:
        raise ValueError(
            f"The file {path} asks for {refused}, which a table of arrays does not need: it was not "
            f"read, and nothing in it was executed."
        ) from None
    except OSError:
        raise
    except Exception as error:  # a damaged pickle can fail in any way
        raise ValueError(f"The file {path} is damaged or not a pickled pandas table.") from error


def _columns(frame: Any) -> dict[str, np.ndarray]:
    manager = _called(frame, _FRAME).state["_mgr"]
    blocks, axes = _called(manager, _MANAGER).arguments
    _, index = _called(axes[0], _NEW_INDEX).arguments
    names = _array(index["data"])
    columns = {}
    for block in blocks:
        values, placement, _ = _called(block, _BLOCK).arguments
        values = _array(values)
        for row, column in zip(values, _positions(placement, len(names)), strict=True):
            columns[str(names[column])] = _cells(row)
    return columns


def _called(record: Any, *names: str) -> _Record:
    if not isinstance(record, _Record) or record.name not in names:
        raise TypeError(f"{names} expected, not {record!r}")
    return record


def _positions(placement: Any, total: int) -> list[int]:
    if isinstance(placement, _Record) and placement.name == _SLICE:
        return list(range(*slice(*placement.arguments).indices(total)))
    return [int(position) for position in _array(placement)]


def _cells(column: np.ndarray) -> np.ndarray:
    if column.dtype != object:
        return column
    cells = (_array(cell) if isinstance(cell, _Record) else cell for cell in column)
    return np.fromiter(cells, object, len(column))


def _array(record: Any) -> np.ndarray:
    record = _called(record, *_RECONSTRUCT, *_FROM_BUFFER)
    if record.name in _FROM_BUFFER:
        content, dtype, shape, order = record.arguments
    else:
        _, shape, dtype, fortran, content = record.state
        order = "F" if fortran else "C"
    is_object = _called(dtype, _DTYPE).arguments[0] in _OBJECTS
    flat = np.fromiter(content, object, len(content)) if is_object else _numbers(dtype, content)
    if math.prod(shape) != len(flat) or order not in ("C", "F"):
        raise ValueError(f"{len(flat)} values do not fill an array of shape {shape}")
    return flat.reshape(shape, order=order)


def _numbers(record: _Record, content: bytes) -> np.ndarray:
    kind, (_, order, *rest) = record.arguments[0], record.state
    # Only plain numbers: no structured dtypes and no subarrays.
    if kind not in _NUMBERS or order not in _BYTE_ORDERS or any(rest[:3]):
        raise TypeError(f"numbers of kind {kind!r}")
    dtype = np.dtype(kind).newbyteorder(order)
    return np.frombuffer(content, dtype).astype(dtype.newbyteorder("="))
