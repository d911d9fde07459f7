"""Files of rows: CSV, TSV, Parquet, Feather and NumPy's ``.npz``; written whole or not at all."""

import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from vebnn.serialization.files import write_bytes
from vebnn.tabular.delimited import read_delimited
from vebnn.tabular.errors import TableError, quoted, quoted_list, refuse_repeated

_COMPRESSED = (".gz", ".bz2", ".xz", ".zip")
_NEED_PYARROW = (".parquet", ".feather")


def read_table(path: str | Path, labels: Collection[str] = ()) -> pandas.DataFrame:
    """Read a file of rows; the suffix of its name says which kind of file it is.

    A CSV file may be separated by commas or semicolons, and may be compressed. An ``.npz`` file has one
    column per one-dimensional array, and columns ``name_0``, ``name_1``, … per matrix. A named index of
    a Parquet file is a column.

    Args:
      path: the file.
      labels: columns that keep their text where numbers would be written differently: 007 is not 7.

    Raises:
      FileNotFoundError: if there is no such file.
      ImportError: if reading it needs an extra that is not installed.
      TableError: if the file is empty, damaged, or of another kind.
    """
    path = Path(path)
    kind = kind_of(path, _READERS, "Save your rows as one of these.")
    with open(path, "rb"):  # the operating system's own error for a missing or forbidden file
        pass
    return _checked(str(path), kind, lambda: _READERS[kind](path, labels))


def read_csv(content: bytes, name: str, labels: Collection[str] = ()) -> pandas.DataFrame:
    """Read the content of a CSV file, as :func:`read_table` would."""
    return _checked(
        name, ".csv", lambda: read_delimited(lambda: io.BytesIO(content), name, ",", labels)
    )


def write_table(frame: pandas.DataFrame, path: str | Path) -> None:
    """Write a table without its index; the suffix of the file's name says how."""
    check_can_write(path)
    write_bytes(Path(path), to_bytes(frame, kind_of(Path(path), _WRITERS)))


def to_bytes(frame: pandas.DataFrame, kind: str, **options: Any) -> bytes:
    """Return the content of a file of this kind; options are those of pandas."""
    content = io.BytesIO()
    _WRITERS[kind](frame, content, **options)
    return content.getvalue()


def check_can_write(path: str | Path) -> None:
    """Check the name of an output file before the work that fills it.

    Raises:
      IsADirectoryError: if it is a folder.
      ImportError: if writing it needs an extra that is not installed.
      TableError: if its suffix is not known.
    """
    if Path(path).is_dir():
        raise IsADirectoryError(f"{path} is a folder. Give the name of a file.")
    kind_of(Path(path), _WRITERS, "Choose another name.")


def kind_of(path: Path, kinds: Iterable[str], way_out: str = "") -> str:
    """Return the suffix that says what a file is; refuse one that is not among ``kinds``."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in _COMPRESSED
    kind = (["", *suffixes[:-1]] if compressed else ["", *suffixes])[-1]
    if kind not in kinds or (compressed and kind not in (".csv", ".tsv")):
        *first, last = kinds
        endings = f"{', '.join(first)} or {last}"
        raise TableError(f"The file {quoted(path.name)} must end in {endings}. {way_out}")
    if kind in _NEED_PYARROW and find_spec("pyarrow") is None:
        raise ImportError("Parquet and Feather files need pyarrow: pip install 'vebnn[files]'.")
    return kind


def _checked(name: str, kind: str, read: Callable[[], pandas.DataFrame]) -> pandas.DataFrame:
    """Read a table; refuse one without rows, or with two columns of one name."""
    with readable(name, kind):
        frame = read()
    refuse_empty(name, frame)
    frame.columns = [str(name) for name in frame.columns]
    refuse_repeated(name, frame.columns)
    return frame.reset_index(drop=True)


@contextmanager
def readable(name: str, kind: str) -> Iterator[None]:
    """Turn the errors of all file libraries into one sentence."""
    try:
        yield
    except (TableError, ImportError):
        raise
    except UnicodeDecodeError as error:
        raise TableError(
            f"The file {name} is not UTF-8 text: byte {error.start} is {error.object[error.start]:#x}. "
            f"Save it again as UTF-8."
        ) from error
    except Exception as error:  # every library has its own exceptions for a damaged file
        reason = " ".join(str(error).split()).removesuffix(".")
        long_row = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", reason)
        if long_row:
            reason = "line {1} has {2} values instead of {0}".format(*long_row.groups())
        raise TableError(f"The file {name} could not be read as {kind}: {reason}.") from error


def refuse_empty(name: str, frame: pandas.DataFrame) -> None:
    """Refuse a table without rows."""
    if frame.empty:
        found = "has column names, but no rows" if len(frame.columns) else "is empty"
        raise TableError(f"The file {name} {found}. It must hold column names and some rows.")


def with_named_index(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Turn the named parts of an index into columns; pandas writes them apart from the others."""
    names = frame.index.names
    return frame.reset_index(level=[at for at, name in enumerate(names) if name is not None])


def _read_feather(path: Path) -> pandas.DataFrame:
    """Read a Feather file after a check: pyarrow trusts offsets of text, and wrong ones crash it."""
    from pyarrow import feather

    feather.read_table(path, memory_map=False).validate(full=True)
    return pandas.read_feather(path)


def _read_npz(path: Path) -> pandas.DataFrame:
    columns: dict[str, np.ndarray] = {}
    steps: dict[str, np.ndarray] = {}  # (sequences, time, columns)
    with np.load(path, allow_pickle=False) as arrays:
        for name, array in arrays.items():
            if array.dtype.names is not None:
                raise TableError(
                    f"The array {quoted(name)} in {path} must hold numbers or text. Got records with "
                    f"the fields {quoted_list(array.dtype.names)}; save each as an array of its own."
                )
            if array.ndim == 3:
                steps[name] = array
            elif array.ndim == 1:
                columns[name] = array
            elif array.ndim == 2:
                columns |= {f"{name}_{number}": column for number, column in enumerate(array.T)}
            else:
                raise TableError(
                    f"The array {quoted(name)} in {path} must have one to three axes. Got {array.ndim}."
                )
    if steps:
        return _rows_of_steps(steps, columns, path)
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise TableError(
            f"The arrays in {path} must have as many rows as each other. Got {sorted(lengths)}."
        )
    return pandas.DataFrame(columns)


def _rows_of_steps(
    steps: dict[str, np.ndarray], others: dict[str, np.ndarray], path: Path
) -> pandas.DataFrame:
    """Return a row for each step of padded sequences, with columns ``sequence`` and ``step``."""
    if others:
        raise TableError(
            f"The arrays in {path} must all have three axes, (sequences, time, columns), or none. Got "
            f"{quoted_list(others)} with fewer; give targets of sequences a last axis, y[..., None]."
        )
    shapes = {array.shape[:2] for array in steps.values()}
    if len(shapes) > 1:
        raise TableError(
            f"The arrays in {path} must have the same sequences and steps. Got {sorted(shapes)}."
        )
    number, step = (part.ravel() for part in np.indices(shapes.pop()))
    columns = {
        f"{name}_{at}": array[..., at].ravel()
        for name, array in steps.items()
        for at in range(array.shape[2])
    }
    frame = pandas.DataFrame(columns)
    empty = frame.isna().all(axis=1)  # the padding
    frame.insert(0, "step", step)
    frame.insert(0, "sequence", number)
    return frame[~empty.to_numpy()]


_READERS: dict[str, Callable[[Path, Collection[str]], pandas.DataFrame]] = {
    ".csv": lambda path, labels: read_delimited(lambda: path, str(path), ",", labels),
    ".tsv": lambda path, labels: read_delimited(lambda: path, str(path), "\t", labels),
    ".parquet": lambda path, labels: with_named_index(pandas.read_parquet(path)),
    ".feather": lambda path, labels: _read_feather(path),
    ".npz": lambda path, labels: _read_npz(path),
}
_WRITERS: dict[str, Callable[..., None]] = {
    ".csv": partial(pandas.DataFrame.to_csv, index=False),
    ".tsv": partial(pandas.DataFrame.to_csv, index=False, sep="\t"),
    ".parquet": partial(pandas.DataFrame.to_parquet, index=False),
    ".feather": pandas.DataFrame.to_feather,
}
