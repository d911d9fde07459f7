"""Files of rows, read block by block: CSV, TSV and Parquet of any size."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas

from vebnn.tabular.errors import refuse_repeated
from vebnn.tabular.files import kind_of, readable, refuse_empty, with_named_index
from vebnn.tabular.streams import delimited

STREAMED = (".csv", ".tsv", ".parquet")
SEPARATORS = {".csv": ",", ".tsv": "\t"}


class Block(NamedTuple):
    """Consecutive rows of a file."""

    frame: pandas.DataFrame
    first_row: int  # its position in the file, from 0
    share: float  # of the file that has been read

    @property
    def num_rows(self) -> int:
        """Rows of the file up to the end of this block."""
        return self.first_row + len(self.frame)


class RowFile:
    """A file that is read block by block."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kind = kind_of(path, STREAMED, "Other files are read as a whole.")
        with open(path, "rb"):  # the operating system's own error for a missing or forbidden file
            pass

    def first_rows(self, number: int, labels: Collection[str] = ()) -> pandas.DataFrame:
        """Return the first rows.

        Raises:
          TableError: if the file is empty or damaged.
        """
        frame = next(self.blocks(number, labels), Block(self._no_rows(), 0, 1.0)).frame
        refuse_empty(str(self.path), frame)
        return frame

    def exceeds(self, number: int) -> bool:
        """Return whether the file has more rows; of text, lines within quotes may count, too."""
        with readable(str(self.path), self.kind):
            if self.kind == ".parquet":
                return self.count_rows() > number
            return delimited.count_lines(self.path, number + 2) > number + 1

    def count_rows(self) -> int:
        """Return the number of rows; of text, that of lines, which may be more."""
        with readable(str(self.path), self.kind):
            if self.kind == ".parquet":
                return int(_parquet(self.path).metadata.num_rows)
            return max(delimited.count_lines(self.path) - 1, 0)

    def blocks(
        self, size: int, labels: Collection[str] = (), columns: Collection[str] | None = None
    ) -> Iterator[Block]:
        """Yield all rows, ``size`` at a time; the last block may have fewer.

        Args:
          size: rows of a block.
          labels: columns whose text must not change: 007 is not 7.
          columns: names of those that are needed; by default all.

        Raises:
          TableError: if the file is damaged, also at a later block.
        """
        first_row = 0
        with readable(str(self.path), self.kind):
            for frame, share in _regrouped(self._pieces(size, labels, columns), size):
                yield Block(frame, first_row, share)
                first_row += len(frame)

    def _pieces(
        self, size: int, labels: Collection[str], columns: Collection[str] | None
    ) -> Iterator[tuple[pandas.DataFrame, float]]:
        if self.kind == ".parquet":
            yield from _pieces_of_parquet(self.path, size, columns)
            return
        for frame, share in delimited.pieces(self.path, SEPARATORS[self.kind], size, labels):
            wanted = frame.columns if columns is None else frame.columns.intersection([*columns])
            yield frame[wanted], share

    def _no_rows(self) -> pandas.DataFrame:
        with readable(str(self.path), self.kind):
            if self.kind == ".parquet":
                return _parquet(self.path).schema_arrow.empty_table().to_pandas()
            return delimited.no_rows(self.path, SEPARATORS[self.kind])

    def names(self) -> list[str]:
        """Return the names of the columns."""
        frame = with_named_index(self._no_rows())
        return [str(name) for name in frame.columns]


def _regrouped(
    pieces: Iterable[tuple[pandas.DataFrame, float]], size: int
) -> Iterator[tuple[pandas.DataFrame, float]]:
    """Cut and join pieces so that all but the last have ``size`` rows."""
    waiting: list[pandas.DataFrame] = []
    share = 1.0
    for piece, share in pieces:
        while len(piece) + (have := sum(map(len, waiting))) >= size:
            cut = size - have
            yield _joined([*waiting, piece.iloc[:cut]]), share
            waiting, piece = [], piece.iloc[cut:]
        if len(piece):
            waiting.append(piece)
    if waiting:
        yield _joined(waiting), share


def _joined(frames: list[pandas.DataFrame]) -> pandas.DataFrame:
    frame = frames[0] if len(frames) == 1 else pandas.concat(frames)
    return frame.reset_index(drop=True)


def _parquet(path: Path) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(path)


def _pieces_of_parquet(
    path: Path, size: int, columns: Collection[str] | None
) -> Iterator[tuple[pandas.DataFrame, float]]:
    import pyarrow

    with _parquet(path) as file:
        refuse_repeated(str(path), file.schema_arrow.names)
        names = [name for name in file.schema_arrow.names if columns is None or name in columns]
        total, done = max(file.metadata.num_rows, 1), 0
        # One row group at a time: a reader of several keeps all that it has read.
        for group in range(file.num_row_groups):
            for batch in file.iter_batches(batch_size=size, row_groups=[group], columns=names):
                frame = with_named_index(pyarrow.Table.from_batches([batch]).to_pandas())
                done += len(frame)
                yield frame, done / total
