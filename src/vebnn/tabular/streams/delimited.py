"""Delimited text, block by block, with the rules of :mod:`vebnn.tabular.delimited`."""

import io
import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas
from pandas.io.common import get_handle

from vebnn.tabular.delimited import count_numeric, reader_of, refuse_nul, with_decimal_points
from vebnn.tabular.errors import TableError

_CHUNK = 1 << 20
_TOO_MUCH = "\0"  # no name in a file


def pieces(
    path: Path, separator: str, size: int, labels: Collection[str]
) -> Iterator[tuple[pandas.DataFrame, float]]:
    """Yield frames of ``size`` rows, and the share of the file that has been read.

    Columns of ``labels`` are text: whether numbers would be written differently shows only at the end.
    """
    try:
        read, decimals = reader_of(lambda: path, str(path), separator)
    except pandas.errors.EmptyDataError:
        return
    names = list(read(nrows=0, index_col=False).columns)
    options: dict[str, Any] = {
        "index_col": False,
        "dtype": {name: str for name in names if name in labels},
        "low_memory": False,
        "chunksize": size,
        # pandas drops what is too much in the first row of a block: one more column shows it.
        "header": None,
        "skiprows": _empty_lines(path) + 1,
        "names": [*names, _TOO_MUCH],
    }
    mark = _decimal_mark(read, decimals, options)
    total, num_rows = max(path.stat().st_size, 1), 0
    with _checked_stream(path) as (stream, raw), _frames(read, stream, mark, options) as frames:
        for frame in frames:
            if (longer := frame.pop(_TOO_MUCH).notna().to_numpy()).any():
                row = num_rows + int(longer.argmax())
                raise TableError(f"Row {row + 1} of the file {path} has too many values.", row=row)
            num_rows += len(frame)
            yield with_decimal_points(frame) if mark == "," else frame, raw.tell() / total


@contextmanager
def _frames(read: Any, stream: Any, mark: str, options: dict[str, Any]) -> Iterator[Any]:
    """Yield pandas' frames; its error about a long row counts the columns of the file."""
    try:
        with read(stream, decimal=mark, **options) as frames:
            yield frames
    except pandas.errors.ParserError as error:
        count = len(options["names"])
        message = str(error).replace(f"Expected {count} fields", f"Expected {count - 1} fields")
        raise pandas.errors.ParserError(message) from error


def no_rows(path: Path, separator: str) -> pandas.DataFrame:
    """Return a frame with the columns of a file, if it has any, and no rows."""
    try:
        read, _ = reader_of(lambda: path, str(path), separator)
    except pandas.errors.EmptyDataError:
        return pandas.DataFrame()
    return read(nrows=0, index_col=False)


def count_lines(path: Path, most: float = math.inf) -> int:
    """Return the number of line ends in a file; reads little further than ``most``."""
    lines = 0
    with get_handle(path, "rb", compression="infer", is_text=False) as handles:
        while lines < most and (chunk := handles.handle.read(_CHUNK)):
            lines += chunk.count(b"\n")
    return lines


def _empty_lines(path: Path) -> int:
    """Return how many lines are before the header."""
    number = 0
    with get_handle(path, "rb", compression="infer", is_text=False) as handles:
        for line in handles.handle:
            if line.strip(b"\r\n"):
                break
            number += 1
    return number


def _decimal_mark(read: Any, decimals: list[str], options: dict[str, Any]) -> str:
    """Return the decimal sign that makes more numbers in the first block where it matters."""
    if len(decimals) == 1:
        return decimals[0]
    point, comma = decimals
    with read(decimal=point, **options) as first, read(decimal=comma, **options) as second:
        for pair in zip(first, second, strict=True):
            counts = [count_numeric(frame) for frame in pair]
            if counts[0] != counts[1]:
                return decimals[counts.index(max(counts))]
    return point


@contextmanager
def _checked_stream(path: Path) -> Iterator[tuple[Any, Any]]:
    """Open a file; yield its bytes, which are checked as they are read, and the raw file."""
    with open(path, "rb") as raw:
        compression = pandas.io.common.infer_compression(path, "infer")
        with (
            get_handle(raw, "rb", compression=compression, is_text=False) as handles,
            io.BufferedReader(_WithoutNul(handles.handle, str(path)), _CHUNK) as stream,
        ):
            yield stream, raw


class _WithoutNul(io.RawIOBase):
    """Bytes of a file, up to the first NUL byte, which is refused."""

    def __init__(self, source: Any, name: str) -> None:
        self._source, self._name, self._line = source, name, 1

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read as many bytes as fit."""
        content = self._source.read(len(buffer))
        self._line = refuse_nul(content, self._name, self._line)
        buffer[: len(content)] = content
        return len(content)
