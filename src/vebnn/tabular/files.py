"""Files of rows: CSV, TSV, Parquet, Feather and NumPy's ``.npz``; written whole or not at all."""

import io
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from vebnn.serialization.files import write_bytes
from vebnn.tabular.errors import TableError, listed, shown

_COMPRESSED = (".gz", ".bz2", ".xz", ".zip")


def read_table(path: str | Path) -> pandas.DataFrame:
    """Read a file of rows; the kind of file is told by the end of its name.

    A CSV file may be separated by commas or semicolons, and may be compressed. An ``.npz`` file has one
    column per one-dimensional array, and columns ``name_0``, ``name_1``, … per matrix.

    Raises:
      FileNotFoundError: if there is no such file.
      ImportError: if reading it needs an extra that is not installed.
      TableError: if the file is empty, damaged, or of another kind.
    """
    path = Path(path)
    reader = _READERS.get(_kind(path))
    if reader is None:
        raise TableError(
            f"The file {shown(path.name)} must end in {_endings(_READERS)}. Save your rows as one of "
            f"these."
        )
    with open(path, "rb"):  # a missing or forbidden file is the operating system's own sentence
        pass
    return _checked(str(path), _kind(path), lambda: reader(path))


def read_csv(content: bytes, name: str) -> pandas.DataFrame:
    """Read the content of a CSV file, as :func:`read_table` would.

    Raises:
      TableError: if it is empty or damaged.
    """
    return _checked(name, ".csv", lambda: _read_text(lambda: io.BytesIO(content), name, ","))


def _checked(name: str, kind: str, read: Callable[[], pandas.DataFrame]) -> pandas.DataFrame:
    """Turn what goes wrong in any of the libraries into one sentence."""
    try:
        frame = read()
    except (TableError, ImportError):
        raise
    except UnicodeDecodeError as error:
        raise TableError(
            f"The file {name} is not UTF-8 text: byte {error.start} is {error.object[error.start]:#x}. "
            f"Save it again as UTF-8."
        ) from error
    except Exception as error:  # every library has its own exceptions for a damaged file
        reason = " ".join(str(error).split()).removesuffix(".")
        raise TableError(f"The file {name} could not be read as {kind}: {reason}.") from error
    if frame.empty:
        raise TableError(f"The file {name} is empty: it must hold column names and some rows.")
    frame.columns = [str(name) for name in frame.columns]
    return frame.reset_index(drop=True)


def write_table(frame: pandas.DataFrame, path: str | Path) -> None:
    """Write a table without its index; the end of the file's name says how."""
    path = Path(path)
    check_can_write(path)
    content = io.BytesIO()
    _WRITERS[_kind(path)](frame, content)
    write_bytes(path, content.getvalue())


def check_can_write(path: str | Path) -> None:
    """Complain about the name of a file to be written, before the work whose result goes there.

    Raises:
      IsADirectoryError: if there is a folder of that name.
      ImportError: if writing it needs an extra that is not installed.
      TableError: if its ending is not known.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Give the name of a file.")
    if _kind(path) not in _WRITERS:
        raise TableError(
            f"The file {shown(path.name)} must end in {_endings(_WRITERS)}. Choose another name."
        )
    if _kind(path) in (".parquet", ".feather"):
        _need_pyarrow()


def _kind(path: Path) -> str:
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in _COMPRESSED:
        endings.pop()
        return endings[-1] if endings and endings[-1] in (".csv", ".tsv") else ""
    return endings[-1] if endings else ""


def _endings(kinds: dict[str, Callable]) -> str:
    *first, last = kinds
    return f"{', '.join(first)} or {last}"


def _need_pyarrow() -> None:
    if find_spec("pyarrow") is None:
        raise ImportError("Parquet and Feather files need pyarrow: pip install 'vebnn[files]'.")


def _read_csv(path: Path) -> pandas.DataFrame:
    return _read_text(lambda: path, str(path), ",")


def _read_tsv(path: Path) -> pandas.DataFrame:
    return _read_text(lambda: path, str(path), "\t")


def _read_text(source: Callable[[], Any], name: str, separator: str) -> pandas.DataFrame:
    """Read delimited text; ``source`` gives a path, or a fresh buffer each time."""
    settings = {"encoding": "utf-8-sig", "skipinitialspace": True, "index_col": False}
    try:
        header = list(
            pandas.read_csv(source(), sep=separator, header=None, nrows=1, **settings).iloc[0]
        )
        decimals = ["."]
        if len(header) == 1 and ";" in str(header[0]):
            # What spreadsheets save where the comma is the decimal sign.
            separator, decimals = ";", [".", ","]
            header = str(header[0]).split(";")
        tables = [
            pandas.read_csv(source(), sep=separator, decimal=mark, **settings) for mark in decimals
        ]
    except pandas.errors.EmptyDataError:
        return pandas.DataFrame()
    repeated = pandas.Index(header)[pandas.Index(header).duplicated()].dropna()
    if len(repeated):  # pandas would call the second one "name.1"
        raise TableError(
            f"The file {name} has more than one column called {listed(repeated.unique())}. Rename them."
        )
    return max(tables, key=lambda frame: len(frame.select_dtypes("number").columns))


def _read_parquet(path: Path) -> pandas.DataFrame:
    _need_pyarrow()
    return pandas.read_parquet(path)


def _read_feather(path: Path) -> pandas.DataFrame:
    _need_pyarrow()
    return pandas.read_feather(path)


def _read_npz(path: Path) -> pandas.DataFrame:
    columns: dict[str, np.ndarray] = {}
    with np.load(path, allow_pickle=False) as arrays:
        for name, array in arrays.items():
            if array.ndim == 1:
                columns[name] = array
            elif array.ndim == 2:
                columns |= {f"{name}_{number}": column for number, column in enumerate(array.T)}
            else:
                raise TableError(
                    f"The array {shown(name)} in {path} must have one axis or two. Got {array.ndim}."
                )
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise TableError(
            f"The arrays in {path} must have as many rows as each other. Got {sorted(lengths)}."
        )
    return pandas.DataFrame(columns)


_READERS: dict[str, Callable[[Path], pandas.DataFrame]] = {
    ".csv": _read_csv,
    ".tsv": _read_tsv,
    ".parquet": _read_parquet,
    ".feather": _read_feather,
    ".npz": _read_npz,
}
_WRITERS: dict[str, Callable[[pandas.DataFrame, io.BytesIO], None]] = {
    ".csv": lambda frame, file: frame.to_csv(file, index=False),
    ".tsv": lambda frame, file: frame.to_csv(file, index=False, sep="\t"),
    ".parquet": lambda frame, file: frame.to_parquet(file, index=False),
    ".feather": lambda frame, file: frame.to_feather(file),
}
