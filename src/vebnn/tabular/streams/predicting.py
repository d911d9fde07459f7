"""Predictions of a file of any size: block by block, in order, resumable."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas

import vebnn
from vebnn.tabular.encoded import EncodedTable
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.errors import TableError, quoted
from vebnn.tabular.model import TableModel
from vebnn.tabular.notices import merged
from vebnn.tabular.saving import open_saved
from vebnn.tabular.streams.blocks import STREAMED, Block, RowFile
from vebnn.tabular.streams.parts import Parts

MOST_ROWS = 1 << 16  # of a block
MOST_NUMBERS = 1 << 21  # of a block
FEWEST_ROWS = 1 << 11  # a multiple of the blocks in which networks are evaluated, and more than one

Watch = Callable[[float, int], None]  # (share of the file, rows so far)


class Predicted(NamedTuple):
    """What has become of a file."""

    num_rows: int
    notices: list[str]


class StreamPredictor:
    """A saved model of a table, and how its predictions are written; workers get it by its folder."""

    def __init__(self, model: Path, level: float, y_std: tuple[str, ...] = ()) -> None:
        self.model, self.level, self.y_std = model, level, y_std
        self._saved: Any = open_saved(model)

    def __reduce__(self) -> Any:
        return StreamPredictor, (self.model, self.level, self.y_std)

    @property
    def encoder(self) -> TableEncoder:
        """How rows become what the network sees."""
        return self._saved.encoder

    @property
    def takes_blocks(self) -> bool:
        """Whether each row of the model is predicted by itself, from columns alone."""
        return type(self.encoder) is TableEncoder

    @property
    def block_rows(self) -> int:
        """Rows of a block; fewer if rows are wide."""
        fit = MOST_NUMBERS // max(1, len(self.encoder.encoded_names))
        return max(FEWEST_ROWS, min(MOST_ROWS, fit // FEWEST_ROWS * FEWEST_ROWS))

    def check(self, data: Path) -> None:
        """Refuse, before any work, a file that is empty, damaged at its beginning, or lacks columns."""
        file = RowFile(data)
        file.first_rows(1)
        try:
            self.encoder.refuse_absent(self._renamed(pandas.DataFrame(columns=file.names())))
        except TableError as error:
            raise TableError(f"{data}: {error}", error.column) from error

    def predict(self, data: Path, out: Path, watch: Watch) -> Predicted:
        """Predict all rows of a file; finished blocks of an interrupted run are kept."""
        parts = Parts(out, self.fingerprint(data))
        finished = parts.open()
        count = num_rows = 0
        for block in self._blocks(data):
            count, num_rows = count + 1, block.num_rows
            if count > finished:
                parts.add(count - 1, *self._of_block(block, data))
            watch(block.share, block.num_rows)
        notices = self.encoder.notices_of_unknown(self._names(data).values())
        return Predicted(num_rows, merged([*parts.join(count), *notices]))

    def tables(self, data: Path) -> Iterator[tuple[pandas.DataFrame, list[str]]]:
        """Yield the predictions of one block after the other, and notices about it."""
        for block in self._blocks(data):
            yield self._of_block(block, data)

    def fingerprint(self, data: Path) -> str:
        """Return a digest of all that decides the predictions of a file."""
        digest = hashlib.sha256(repr((vebnn.__version__, self.level, self.y_std)).encode())
        digest.update(repr(self.block_rows).encode())
        for path in sorted(self.model.glob("*.json")):  # they hold the checksums of all arrays
            digest.update(path.read_bytes())
        facts = data.stat()
        digest.update(repr((data.absolute(), facts.st_size, facts.st_mtime_ns)).encode())
        return digest.hexdigest()

    def _blocks(self, data: Path) -> Iterator[Block]:
        known = self.encoder
        needed = {*known.input_names, *known.identifiers, *self.y_std}
        names = self._names(data)
        used = [old for old, new in names.items() if new in needed]
        labels = {old for old, new in names.items() if new in self._saved.label_names}
        return RowFile(data).blocks(self.block_rows, labels, used)

    def _names(self, data: Path) -> dict[str, str]:
        """Return the columns of a file, and the names they have in the model."""
        names = RowFile(data).names()
        return dict(zip(names, self._renamed(pandas.DataFrame(columns=names)).columns, strict=True))

    def _renamed(self, frame: pandas.DataFrame) -> pandas.DataFrame:
        return self._saved.with_names(frame)

    @cached_property
    def _loaded(self) -> TableModel:
        return self._saved.load()

    def _of_block(self, block: Block, data: Path) -> tuple[pandas.DataFrame, list[str]]:
        try:
            table = self.encoder.encode(self._renamed(block.frame), block.first_row)
            # Every block has one shape: one compiled program serves all, and a row has the same
            # prediction, bit for bit, wherever blocks begin.
            prediction, notices = self._loaded.predict(
                _filled(table, self.block_rows), y_std=self.y_std
            )
        except TableError as error:
            raise TableError(f"{data}: {error}", error.column, error.row) from error
        rows = _repeated(table.frame, self.block_rows)
        frame = self._loaded.prediction_table(rows, prediction, self.level).iloc[: len(table)]
        if "row" not in self.encoder.identifiers or "row" not in rows.columns:
            frame = frame.assign(row=frame["row"] + block.first_row)
        return frame, list(notices)


def _filled(table: EncodedTable, size: int) -> EncodedTable:
    """Return rows with copies of the last one up to a number."""
    frame, matrix = _repeated(table.frame, size), _repeated(table.matrix, size)
    return EncodedTable(table.encoder, frame, matrix, table.notices)


def _repeated(frame: pandas.DataFrame, size: int) -> pandas.DataFrame:
    if len(frame) == size:
        return frame
    return frame.iloc[np.minimum(np.arange(size), len(frame) - 1)]


def is_large(files: Sequence[Path]) -> bool:
    """Return whether this is one file of more rows than a block."""
    if len(files) != 1 or not any(suffix in STREAMED for suffix in map(str.lower, files[0].suffixes)):
        return False
    return RowFile(files[0]).exceeds(MOST_ROWS)


def check_output(out: Path) -> None:
    """Refuse a file that cannot be written block by block.

    Raises:
      TableError: if its name has another ending.
    """
    if out.suffix.lower() not in STREAMED:
        raise TableError(
            f"Predictions of a large file must go to .csv, .tsv or .parquet. Got {quoted(out.name)}."
        )


def outputs_of(files: Collection[Path], out: Path) -> dict[Path, Path]:
    """Return the file of predictions for each file of rows: of the same name, in a folder.

    Raises:
      TableError: if two files have one name.
    """
    found: dict[str, Path] = {}
    for file in files:
        name = f"{file.name.split('.')[0]}{RowFile(file).kind}"
        if name in found:
            raise TableError(
                f"Predictions of {found[name]} and {file} would both be in {out / name}. Predict them "
                f"into different folders."
            )
        found[name] = file
    return {file: out / name for name, file in found.items()}
