"""Delimited text, CSV and TSV: separators, decimal signs, long rows, NUL bytes and labels."""

from collections.abc import Callable, Collection
from typing import Any

import pandas
from pandas.io.common import get_handle

from vebnn.tabular.errors import TableError, refuse_repeated
from vebnn.tabular.values import to_labels

_CHUNK = 1 << 20
_BLOCK_ROWS = 1 << 16
_DECIMAL_COMMA = r"^([-+]?\d*),(\d+)$"


def read_delimited(
    source: Callable[[], Any], name: str, separator: str, labels: Collection[str] = ()
) -> pandas.DataFrame:
    """Read delimited text.

    Args:
      source: returns a path, or a fresh buffer each time.
      name: of the file, for messages.
      separator: between the values of a row; semicolons are recognised.
      labels: columns whose text must not change, if there are such.
    """
    _refuse_nul(source(), name)
    try:
        read, decimals = reader_of(source, name, separator)
        tables = {mark: read(decimal=mark, index_col=False) for mark in decimals}
    except pandas.errors.EmptyDataError:
        return pandas.DataFrame()
    mark = max(tables, key=lambda mark: count_numeric(tables[mark]))
    frame = tables[mark]
    if mark == ",":
        frame = with_decimal_points(frame)
    return _with_labels(frame, labels, lambda: read(dtype=str, index_col=False), mark)


def reader_of(
    source: Callable[[], Any], name: str, separator: str
) -> tuple[Callable[..., Any], list[str]]:
    """Return pandas' reader for the separator of a file, and the decimal signs it may have.

    Raises:
      TableError: if two columns have one name.
      pandas.errors.ParserError: if a row is longer than the header.
      pandas.errors.EmptyDataError: if there is nothing.
    """

    def read(stream: Any = None, **options: Any) -> Any:
        options = {"sep": separator, "encoding": "utf-8-sig", "skipinitialspace": True, **options}
        return pandas.read_csv(source() if stream is None else stream, **options)

    header = list(read(header=None, nrows=1, index_col=False).iloc[0])
    decimals = ["."]
    if len(header) == 1 and ";" in str(header[0]):
        # Spreadsheets save this where the comma is the decimal sign.
        separator, decimals = ";", [".", ","]
        header = str(header[0]).split(";")
    # pandas would call the second of two equal columns "name.1".
    refuse_repeated(name, pandas.Index(header).dropna())
    _refuse_longer_rows(read)
    return read, decimals


def count_numeric(frame: pandas.DataFrame) -> int:
    """Return the number of columns of numbers: the right decimal sign makes most."""
    return len(frame.select_dtypes("number").columns)


def with_decimal_points(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Write decimal points in columns that pandas has left as text because of a few other cells.

    An error about such a column then names the cell that is no number, and not the first with a comma.
    """
    for name in frame.select_dtypes(["object", "string"]):
        written = frame[name].dropna().astype(str)
        replaced = written.str.replace(_DECIMAL_COMMA, r"\1.\2", regex=True)
        if len(written) and (pandas.to_numeric(replaced, errors="coerce").notna()).mean() > 0.5:
            frame[name] = replaced.reindex(frame.index)
    return frame


def _with_labels(
    frame: pandas.DataFrame,
    labels: Collection[str],
    read_text: Callable[[], pandas.DataFrame],
    decimal: str,
) -> pandas.DataFrame:
    """Put the text of some columns in the place of numbers that would be written differently."""
    names = [name for name in frame.columns if name in labels and frame[name].dtype.kind in "biuf"]
    if not names:
        return frame
    text = read_text()[names]
    for name in names:
        written = text[name]
        if decimal == ",":
            written = written.str.replace(_DECIMAL_COMMA, r"\1.\2", regex=True)
        if (to_labels(frame[name]) != to_labels(written)).any():
            frame[name] = written
    return frame


def _refuse_nul(source: Any, name: str) -> None:
    line = 1
    with get_handle(source, "rb", compression="infer", is_text=False) as handles:
        while chunk := handles.handle.read(_CHUNK):
            line = refuse_nul(chunk, name, line)


def refuse_nul(chunk: bytes, name: str, line: int) -> int:
    """Refuse NUL bytes: pandas would end the value there, and read 1 for 1␀50.

    The chunk begins in a ``line``; returns the one in which the next begins.
    """
    before, found, _ = chunk.partition(b"\0")
    line += before.count(b"\n")
    if found:
        raise TableError(
            f"The file {name} has a NUL byte in line {line}, so it is damaged or not UTF-8 text. Save "
            f"it again as UTF-8."
        )
    return line


def _refuse_longer_rows(read: Callable[..., Any]) -> None:
    """Raise pandas' error for a row that is longer than the header, which names the line.

    pandas raises it by itself unless the first row is too long: then it shifts or drops values. Empty
    values at the end of rows do no harm.
    """
    if isinstance(read(nrows=1).index, pandas.RangeIndex):
        return
    with read(chunksize=_BLOCK_ROWS) as blocks:  # the first values became an index
        shifted = any(block.iloc[:, -block.index.nlevels :].notna().any(axis=None) for block in blocks)
    if shifted:
        with read(header=None, chunksize=_BLOCK_ROWS) as blocks:
            for _ in blocks:
                pass
