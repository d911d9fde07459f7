"""The first reading of a large table: what its columns are, and which rows are held out.

Kinds of columns, medians and forms of dates come from a uniform sample of the training rows. Missing
values and categories are counted in all of them; ranges follow when the rows are encoded.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas
from pandas.api import types

from vebnn.tabular.columns import CategoryColumn, Column
from vebnn.tabular.detection import MAX_CATEGORIES, training_notices
from vebnn.tabular.encoded import check_names
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.errors import TableError, counted, quoted_list
from vebnn.tabular.mapped.division import StreamDivision, Uses
from vebnn.tabular.plan import FEWEST_ROWS
from vebnn.tabular.streams.blocks import Block, RowFile
from vebnn.tabular.target_kinds import proposals, require_kinds, require_possible
from vebnn.tabular.targets import read_targets
from vebnn.tabular.values import MISSING, to_label

BLOCK_ROWS = 2**16
SAMPLE_ROWS = 200_000
MOST_LABELS = 100_000  # of one column; with more it is an identifier, whose labels are not counted

Watch = Callable[[float, int], None]  # (share of the file, rows so far)


@dataclass(frozen=True)
class LargeTable:
    """A file of rows, and how it is to be learned from."""

    file: RowFile
    targets: tuple[str, ...]
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    max_categories: int = MAX_CATEGORIES
    target_kinds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        empty = pandas.DataFrame(columns=self.file.names())
        check_names(empty, self.targets, drop=self.drop, categorical=self.categorical)
        object.__setattr__(self, "target_kinds", require_kinds(self.target_kinds, self.targets))

    @property
    def inputs(self) -> list[str]:
        """Names of the columns besides targets and those to leave out."""
        return [name for name in self.file.names() if name not in (*self.targets, *self.drop)]

    def blocks(self) -> "Iterator[TargetBlock]":
        """Yield the rows block by block; a column is text if its first rows are."""
        first = self.file.first_rows(BLOCK_ROWS)
        text = [name for name in first.columns if not types.is_numeric_dtype(first[name].dtype)]
        wanted = [*self.inputs, *self.targets]
        for block in self.file.blocks(BLOCK_ROWS, {*text, *self.categorical}, wanted):
            yield self._with_targets(block)

    def _with_targets(self, block: Block) -> "TargetBlock":
        frame = block.frame.set_axis(pandas.RangeIndex(block.first_row, block.num_rows))
        observed = read_targets(frame, self.targets)
        present = ~np.isnan(observed).any(axis=1)
        some = frame.index[present]
        require_possible(observed[present], self.targets, self.target_kinds, some.to_numpy())
        return TargetBlock(block, frame, observed, present)


class TargetBlock(NamedTuple):
    """Rows of a block, indexed by their positions in the file, and their targets."""

    block: Block
    frame: pandas.DataFrame
    observed: np.ndarray  # (rows, targets)
    present: np.ndarray  # which rows have all targets

    def uses(self, division: StreamDivision, inputs: Sequence[str]) -> Uses:
        """Return the use of each row; rows without a target have none."""
        return Uses(*(use & self.present for use in division.divide(self.frame[[*inputs]])))


@dataclass(frozen=True)
class LearnedTable:
    """What the first reading has found."""

    encoder: TableEncoder
    notices: tuple[str, ...]
    num_rows: int  # with all targets
    num_trained: int
    missing_targets: tuple[int, ...]
    sample: pandas.DataFrame = field(repr=False)  # training rows
    held_out: pandas.DataFrame = field(repr=False)
    calibrated: pandas.DataFrame = field(repr=False)


def learn_table(table: LargeTable, division: StreamDivision, watch: Watch) -> LearnedTable:
    """Read all rows once.

    Raises:
      TableError: if the table cannot be used as it is.
    """
    sample, counts = _Sample(division.seed), _Counts(table.categorical)
    kept: dict[str, list[pandas.DataFrame]] = {"held_out": [], "calibrated": []}
    num_rows = num_trained = 0
    missing = np.zeros(len(table.targets), int)
    for part in table.blocks():
        uses = part.uses(division, table.inputs)
        missing += np.isnan(part.observed).sum(axis=0)
        num_rows += int(part.present.sum())
        num_trained += int(uses.trained.sum())
        kept["held_out"].append(part.frame[uses.held_out])
        kept["calibrated"].append(part.frame[uses.calibrated])
        trained = part.frame[uses.trained]
        counts.add(trained[table.inputs])
        sample.add(trained)
        watch(part.block.share, part.block.num_rows)
    if num_trained < FEWEST_ROWS:
        raise TableError(
            f"The table must have at least {FEWEST_ROWS} rows to learn from. Got "
            f"{counted(num_trained, 'row')} with a value of every target."
        )
    frame = sample.rows()
    options: dict[str, Any] = {"drop": table.drop, "max_categories": table.max_categories}
    encoder, about = TableEncoder.fit(frame, table.targets, categorical=table.categorical, **options)
    columns = tuple(counts.exact(column, table.max_categories) for column in encoder.columns)
    notices = [one for one in about if not one.startswith(tuple(f"{c.name}: " for c in columns))]
    for column in columns:
        notices += training_notices(column, frame[column.name])
    notices += proposals(read_targets(frame, table.targets), table.targets, table.target_kinds)
    if without := table_rows_without(num_rows, part.block.num_rows, table.targets):
        notices.append(without)
    joined = {use: pandas.concat(frames) for use, frames in kept.items()}
    return LearnedTable(
        encoder=replace(encoder, columns=columns),
        notices=tuple(notices),
        num_rows=num_rows,
        num_trained=num_trained,
        missing_targets=tuple(missing.tolist()),
        sample=frame,
        **joined,
    )


def table_rows_without(num_rows: int, total: int, targets: Sequence[str]) -> str:
    """Return a notice about rows without a target, or an empty text."""
    if total == num_rows:
        return ""
    left_out = counted(total - num_rows, "row")
    return f"{left_out} without a value of every target ({quoted_list(targets)}): left out."


class _Sample:
    """A uniform sample of a stream: the rows with the smallest random numbers."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng([seed, 1])
        self._frames: list[pandas.DataFrame] = []
        self._keys = np.zeros(0)

    def add(self, frame: pandas.DataFrame) -> None:
        keys = self._rng.random(len(frame))
        limit = np.inf if len(self._keys) < SAMPLE_ROWS else self._keys.max()
        taken = keys < limit
        self._frames.append(frame[taken])
        self._keys = np.concatenate([self._keys, keys[taken]])
        if len(self._keys) > 2 * SAMPLE_ROWS:
            self._prune()

    def _prune(self) -> None:
        order = np.sort(np.argsort(self._keys)[:SAMPLE_ROWS])
        self._frames, self._keys = [pandas.concat(self._frames).iloc[order]], self._keys[order]

    def rows(self) -> pandas.DataFrame:
        """Return the sample, in the order of the file."""
        self._prune()
        return self._frames[0]


class _Counts:
    """Missing values of all columns, and how often each label of a column of text appears."""

    def __init__(self, categorical: Sequence[str]) -> None:
        self._categorical = categorical
        self._missing: Counter[str] = Counter()
        self._labels: dict[str, Counter[str]] = {}

    def add(self, frame: pandas.DataFrame) -> None:
        for name in frame.columns:
            series = frame[name]
            self._missing[name] += int(series.isna().sum())
            labels = self._labels.setdefault(name, Counter())
            number = types.is_numeric_dtype(series.dtype) and not types.is_bool_dtype(series.dtype)
            if (number and name not in self._categorical) or len(labels) > MOST_LABELS:
                continue
            for value, count in series.value_counts().items():
                labels[to_label(value) or MISSING] += int(count)

    def exact(self, column: Column, most: int) -> Column:
        """Return a column with what was counted in all training rows."""
        missing, labels = self._missing[column.name], self._labels[column.name]
        if not isinstance(column, CategoryColumn):
            return replace(column, num_missing=max(missing, column.num_missing))
        if missing:
            labels[MISSING] += missing
        return CategoryColumn.of_counts(column.name, labels, most)
