"""A long table → numbers of each step, and the sequences that the steps are of."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas

from vebnn.tabular.columns import Column
from vebnn.tabular.encoded import EncodedTable, Encoder, check_names, fingerprints
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.errors import TableError, counted, quoted_list
from vebnn.tabular.files import read_csv
from vebnn.tabular.sequences.estimator import ByRows
from vebnn.tabular.sequences.order import SequenceOrder
from vebnn.tabular.sequences.steps import Steps
from vebnn.tabular.targets import read_targets, rows_with_targets

MOST_EXAMPLE_ROWS = 200


class SequenceColumns(NamedTuple):
    """The columns that make sequences of the rows of a long table."""

    sequence: str  # rows with the same value are one sequence
    step: str  # numbers or dates, the order of its rows
    step_as_input: bool = False


@dataclass(frozen=True)
class SequenceEncoder(Encoder):
    """How the rows of a long table become sequences; its columns are encoded as those of any table."""

    column_kinds: ClassVar = TableEncoder.column_kinds
    sample_rows: ClassVar = 0  # rows alone say nothing about sequences
    what: ClassVar = "sequences"

    columns: tuple[Column, ...]
    by: SequenceColumns
    example: str = field(repr=False)  # a training sequence as CSV, without targets

    @classmethod
    def fit(
        cls,
        frame: pandas.DataFrame,
        targets: Sequence[str],
        by: SequenceColumns,
        *,
        drop: Sequence[str] = (),
        **options: Any,
    ) -> "tuple[SequenceEncoder, tuple[str, ...]]":
        """Decide what every column is, as :meth:`TableEncoder.fit` does with the same options."""
        check_names(frame, targets, drop=drop, sequence=[by.sequence], step=[by.step])
        no_inputs = [by.sequence] if by.step_as_input else [by.sequence, by.step]
        others = [*drop, *(name for name in no_inputs if name not in drop)]
        found, notices = TableEncoder.fit(frame, targets, drop=others, **options)
        kept = tuple(dict.fromkeys((by.sequence, by.step, *found.identifiers)))
        ignored = tuple(name for name in found.ignored if name not in kept)
        return cls(found.columns, found.targets, kept, ignored, by, example=""), notices

    @property
    def of_steps(self) -> TableEncoder:
        """How one row becomes numbers."""
        return TableEncoder(self.columns, self.targets, self.identifiers, self.ignored)

    @property
    def input_names(self) -> list[str]:
        """Names of the columns that a row must have to be predicted."""
        return list(dict.fromkeys((self.by.sequence, self.by.step, *super().input_names)))

    @property
    def example_rows(self) -> pandas.DataFrame:
        """The rows of the example."""
        return read_csv(self.example.encode(), "example.csv", self.label_names)

    @property
    def label_names(self) -> list[str]:
        """Names of the columns whose values must be read as they are written."""
        return [name for name in self.of_steps.label_names if name != self.by.step]

    def with_example(self, frame: pandas.DataFrame, order: SequenceOrder) -> Self:
        """Return an encoder that keeps the sequence of median length, from some training rows."""
        sizes = np.bincount(order.number)
        longest = np.argsort(sizes, kind="stable")
        number = longest[len(longest) // 2]
        rows = np.flatnonzero(order.number == number)
        rows = rows[np.argsort(order.place[rows])][:MOST_EXAMPLE_ROWS]
        return replace(self, example=frame[self.input_names].iloc[rows].to_csv(index=False))

    def encode(self, frame: pandas.DataFrame) -> "EncodedSequences":
        """Turn rows into numbers, and find their sequences; ignore unknown columns, with a notice."""
        frame = frame.reset_index(drop=True)
        self._refuse_without_order(frame)
        order = SequenceOrder.read(frame, self.by.sequence, self.by.step)
        rows = self.of_steps.encode(frame)
        steps = Steps(rows.matrix.to_numpy(float), order.number, order.place, np.arange(len(frame)))
        return EncodedSequences(self, frame, steps, (*order.notices, *rows.notices))

    def by_rows(self, estimator: Any) -> ByRows:
        """Return an estimator of sequences as one of rows."""
        return ByRows(estimator, self.targets)

    def _refuse_without_order(self, frame: pandas.DataFrame) -> None:
        names = (self.by.sequence, self.by.step)
        if absent := [name for name in names if name not in frame.columns]:
            raise TableError(
                f"The table lacks {quoted_list(absent)}. The model is one of sequences: rows with the "
                f"same {self.by.sequence!r}, in the order of {self.by.step!r}. Its columns are "
                f"{quoted_list(frame.columns)}.",
                absent[0],
            )

    def describe(self) -> dict[str, Any]:
        """Return the encoder as JSON."""
        return super().describe() | {"sequence": self.by._asdict(), "example": self.example}

    @classmethod
    def from_description(cls, description: dict[str, Any], **more: Any) -> Self:
        """Return an encoder from the JSON of :meth:`describe`."""
        by, example = SequenceColumns(**description["sequence"]), description["example"]
        if not all(isinstance(one, str) for one in (by.sequence, by.step, example)):
            raise TypeError("names of columns that are no text")
        return super().from_description(description, by=by, example=example, **more)


@dataclass(frozen=True)
class EncodedSequences(EncodedTable):
    """Rows of a long table; the matrix holds the steps of all rows and says which of them these are."""

    encoder: SequenceEncoder
    matrix: Steps

    def count_examples(self, rows: np.ndarray) -> int:
        """Return the number of sequences that some rows are of."""
        return self.count_sequences(rows)

    def count_sequences(self, rows: np.ndarray) -> int:
        """Return the same."""
        return len(np.unique(self.matrix[rows].sequence_of_rows))

    def with_targets(self) -> "EncodedSequences":
        """Return the rows that have all targets; the others remain the history of later rows."""
        names = self.encoder.targets
        present = rows_with_targets(read_targets(self.frame, names), names)
        if present.all():
            return self
        missing = int(np.sum(~present))
        of = quoted_list(names) if len(names) == 1 else f"all of {quoted_list(names)}"
        notice = f"{counted(missing, 'row')} without {of}: not scored, but a part of the history."
        return EncodedSequences(
            self.encoder, self.frame[present], self.take(present), (*self.notices, notice)
        )

    def fingerprints(self) -> np.ndarray:
        """Return a number for each row with all steps before it and its targets."""
        targets = (row.tobytes() for row in self.observed.astype("<f8") + 0.0)
        pairs = zip(self.matrix.histories(), targets, strict=True)
        return fingerprints(history + one for history, one in pairs)

    def input_fingerprints(self) -> np.ndarray:
        """Return a number for the inputs of each row's whole sequence."""
        return fingerprints(self.matrix.wholes())

    def settled(self, found: np.ndarray) -> np.ndarray:
        """Return for all rows of a sequence what was found for most of them.

        Sequences that differ may begin alike, such as at rest.
        """
        number = self.matrix.sequence_of_rows
        share = np.bincount(number, found) / np.maximum(np.bincount(number), 1)
        return share[number] > 0.5
