"""Delimited text, CSV and TSV: separators, decimal signs, long rows, NUL bytes and labels."""

from collections.abc import Callable, Collection
from typing import Any

import pandas
from pandas.io.common import get_handle

from vebnn.tabular.errors import TableError, refuse_repeated
from vebnn.tabular.values import to_labels

_CHUNK = 1 << 20
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

    def read(**options: Any) -> pandas.DataFrame:
        options = {"sep": separator, "encoding": "utf-8-sig", "skipinitialspace": True, **options}
        return pandas.read_csv(source(), **options)

    try:
        header = list(read(header=None, nrows=1, index_col=False).iloc[0])
        decimals = ["."]
        if len(header) == 1 and ";" in str(header[0]):
            # Spreadsheets save this where the comma is the decimal sign.
            separator, decimals = ";", [".", ","]
            header = str(header[0]).split(";")
        _refuse_longer_rows(read)
        tables = {mark: read(decimal=mark, index_col=False) for mark in decimals}
    except pandas.errors.EmptyDataError:
        return pandas.DataFrame()
    # pandas would call the second of two equal columns "name.1".
    refuse_repeated(name, pandas.Index(header).dropna())
    mark = max(tables, key=lambda mark: len(tables[mark].select_dtypes("number").columns))
    frame = tables[mark]
    if mark == ",":
        frame = _with_decimal_points(frame)
    return _with_labels(frame, labels, lambda: read(dtype=str, index_col=False), mark)


def _with_decimal_points(frame: pandas.DataFrame) -> pandas.DataFrame:
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
    """Refuse NUL bytes: pandas would end the value there, and read 1 for 1␀50."""
    line = 1
    with get_handle(source, "rb", compression="infer", is_text=False) as handles:
        while chunk := handles.handle.read(_CHUNK):
            before, found, _ = chunk.partition(b"\0")
            line += before.count(b"\n")
            if found:
                raise TableError(
                    f"The file {name} has a NUL byte in line {line}, so it is damaged or not UTF-8 "
                    f"text. Save it again as UTF-8."
                )


def _refuse_longer_rows(read: Callable[..., pandas.DataFrame]) -> None:
    """Raise pandas' error for a row that is longer than the header, which names the line.

    pandas raises it by itself unless the first row is too long: then it shifts or drops values. Empty
    values at the end of rows do no harm.
    """
    if not isinstance(read(nrows=1).index, pandas.RangeIndex):  # the first values became an index
        shifted = read()
        if shifted.iloc[:, -shifted.index.nlevels :].notna().any(axis=None):
            read(header=None)
