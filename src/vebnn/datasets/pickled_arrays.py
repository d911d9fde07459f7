"""Read a pickled NumPy array without executing anything in the pickle.

A pickle is a program that names functions and calls them. This reader accepts only the names that an
array needs, and takes every call as an inert record (:mod:`vebnn.datasets.pickle_records`). It then
builds the array from its record, after checks of its size and dtype.
"""

import math
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from vebnn.datasets.pickle_records import Record, Refused, read_records

_ARRAY = "numpy.ndarray"
_DTYPE = "numpy.dtype"
# Names of NumPy 1 and of NumPy 2.
_RECONSTRUCT = ("numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct")
_FROM_BUFFER = ("numpy.core.numeric._frombuffer", "numpy._core.numeric._frombuffer")

ALLOWED = frozenset({_ARRAY, _DTYPE, *_RECONSTRUCT, *_FROM_BUFFER})
_NUMBERS = frozenset({"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"})
_OBJECTS = frozenset({"O", "O4", "O8"})
_BYTE_ORDERS = frozenset("<>=|")
_ROOM = 8  # bytes of arrays per byte of the file: a list needs a byte for an item, an array eight

T = TypeVar("T")


def read_array(path: str | Path) -> np.ndarray:
    """Return the array of numbers in a pickle; execute nothing."""

    def build(record: Any, arrays: Arrays) -> np.ndarray:
        array = arrays.build(record)
        if array.dtype == object:
            raise TypeError("an array of objects")
        return array

    return read_pickle(path, ALLOWED, "an array of numbers", build)


def read_pickle(
    path: str | Path, allowed: Collection[str], words: str, build: Callable[[Any, "Arrays"], T]
) -> T:
    """Return what ``build`` makes of the records of a pickle; execute nothing.

    Args:
      path: the file.
      allowed: the names that it may hold.
      words: what it should be, for the errors.
      build: a function of the records and of the builder of their arrays.

    Raises:
      OSError: if the file cannot be read.
      ValueError: if it holds another name, or is damaged.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
        return build(read_records(content, allowed), Arrays(_ROOM * len(content)))
    except Refused as refused:
        raise ValueError(
            f"The file {path} asks for {refused}, which {words} does not need: it was not "
            f"read, and nothing in it was executed."
        ) from None
    except OSError:
        raise
    except Exception as error:  # a damaged pickle can fail in any way
        raise ValueError(f"The file {path} is damaged or not {words}.") from error


def called(record: Any, *names: str) -> Record:
    """Return the record of a call of one of these names; refuse anything else."""
    if not isinstance(record, Record) or record.name not in names:
        raise TypeError(f"{names} expected")
    return record


class Arrays:
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
        record = called(record, *_RECONSTRUCT, *_FROM_BUFFER)
        if record.name in _FROM_BUFFER:
            content, dtype, shape, order = record.arguments
        else:
            _, shape, dtype, fortran, content = record.state
            order = "F" if fortran else "C"
        kind = called(dtype, _DTYPE).arguments[0]
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
