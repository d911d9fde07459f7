"""What every encoder of a user's table shares, and the rows it has encoded."""

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, get_args, get_type_hints

import numpy as np
import pandas

from vebnn.prediction import frame_columns
from vebnn.tabular.errors import Problems, TableError, counted, quoted_list
from vebnn.tabular.targets import notice_of_missing, read_targets, rows_with_targets


@dataclass(frozen=True)
class Encoder(ABC):
    """Abstract: how rows of a table become what the network sees, as learned from training rows."""

    column_kinds: ClassVar[dict[str, Any]]  # classes of columns, by the name of their kind
    sample_rows: ClassVar[int]  # most training rows that a model keeps

    what: ClassVar[str] = "a table"  # what a model with this encoder is one of

    columns: tuple[Any, ...]  # those the model uses
    targets: tuple[str, ...]  # names of the columns to predict
    identifiers: tuple[str, ...]  # columns that only name a row; predictions keep them
    ignored: tuple[str, ...]  # other columns that the model does not use

    @abstractmethod
    def encode(self, frame: pandas.DataFrame) -> "EncodedTable":
        """Turn rows into what the network sees; ignore unknown columns, with a notice."""

    def as_inputs(self, rows: np.ndarray) -> Any:
        """Return encoded rows, kept as an array, in the form that the estimator was fitted with."""
        return rows

    def comparable(self, numbers: Any) -> Any:
        """Return inputs or targets in the precision in which rows are recognised."""
        return numbers

    def by_rows(self, estimator: Any) -> Any:
        """Return an estimator that takes what :meth:`EncodedTable.take` returns, and predicts rows."""
        return estimator

    @property
    def input_names(self) -> list[str]:
        """Names of the columns that a row must have to be predicted."""
        return [column.name for column in self.columns]

    @property
    def label_names(self) -> list[str]:
        """Names of the columns whose values must be read as they are written."""
        return list(self.identifiers)

    @property
    def known_names(self) -> frozenset[str]:
        """Names of all columns of the training table."""
        names = (column.name for column in self.columns)
        return frozenset((*names, *self.targets, *self.identifiers, *self.ignored))

    def notices_of_unknown(self, names: Iterable[str]) -> list[str]:
        """Return a notice about columns that the training table had not, if there are any."""
        known = self.known_names
        unknown = [name for name in names if name not in known]
        if not unknown:
            return []
        return [f"Ignored, because the model does not know them: {quoted_list(unknown)}."]

    def refuse_absent(self, frame: pandas.DataFrame) -> None:
        """Refuse a table without a column that the model uses."""
        names = [column.name for column in self.columns]
        if absent := [name for name in names if name not in frame.columns]:
            raise TableError(
                f"The table lacks {quoted_list(absent)}, which the model was trained with. Its columns "
                f"are {quoted_list(frame.columns)}.",
                absent[0],
            )

    def target_values(self, frame: pandas.DataFrame) -> np.ndarray:
        """Return the targets of some rows, ``(rows, targets)``."""
        values = read_targets(frame, self.targets)
        for name, numbers in zip(self.targets, values.T, strict=True):
            if (missing := np.isnan(numbers)).any():
                row = int(frame.index[missing][0])
                raise TableError(
                    f"The target {name!r} is missing in {counted(int(missing.sum()), 'row')}, first in "
                    f"row {row + 1}. Fill in or delete these rows.",
                    name,
                    row,
                )
        return values

    def describe(self) -> dict[str, Any]:
        """Return the encoder as JSON."""
        return {
            "columns": [{"kind": column.kind, **asdict(column)} for column in self.columns],
            "targets": list(self.targets),
            "identifiers": list(self.identifiers),
            "ignored": list(self.ignored),
        }

    @classmethod
    def from_description(cls, description: dict[str, Any], **more: Any) -> Self:
        """Return an encoder from the JSON of :meth:`describe`; ``more`` are fields of a subclass."""
        columns = []
        for one in description["columns"]:
            fields = {name: _as_tuple(value) for name, value in one.items()}
            kind = cls.column_kinds[str(fields.pop("kind"))]
            _check_types(fields, get_type_hints(kind))
            columns.append(kind(**fields))
        rest = {name: _as_tuple(description[name]) for name in ("targets", "identifiers", "ignored")}
        _check_types(rest, get_type_hints(cls))
        return cls(tuple(columns), **rest, **more)


@dataclass(frozen=True)
class EncodedTable:
    """Rows of a user's table, encoded once for prediction, scores and reports."""

    encoder: Encoder
    frame: pandas.DataFrame  # the user's rows, indexed by their position in the user's table, from 0
    matrix: Any  # what the network sees of them: a frame of numbers, or images as one array
    notices: tuple[str, ...]  # about the values

    @cached_property
    def observed(self) -> np.ndarray:
        """The targets, ``(rows, targets)``, read when they are first asked for."""
        return self.encoder.target_values(self.frame)

    def __len__(self) -> int:
        return len(self.frame)

    def take(self, rows: np.ndarray) -> Any:
        """Return what the network sees of some rows, given by their positions or by a mask."""
        return self.matrix.iloc[rows] if hasattr(self.matrix, "iloc") else self.matrix[rows]

    def count_examples(self, rows: np.ndarray) -> int:
        """Return how many examples for the network some rows are, given by their positions."""
        return len(rows)

    def count_sequences(self, rows: np.ndarray) -> int:
        """Return how many sequences some rows are steps of; 0 if they are single rows."""
        return 0

    def with_targets(self) -> "EncodedTable":
        """Return the rows that have all targets, and a notice about the others."""
        names = self.encoder.targets
        present = rows_with_targets(read_targets(self.frame, names), names)
        if present.all():
            return self
        notices = *self.notices, *notice_of_missing(present, names)
        return EncodedTable(self.encoder, self.frame[present], self.take(present), notices)

    def fingerprints(self) -> np.ndarray:
        """Return a 64-bit number for each row of inputs and targets; equal rows have equal numbers."""
        return row_fingerprints(*map(self.encoder.comparable, (self.matrix, self.observed)))

    def input_fingerprints(self) -> np.ndarray:
        """Return the same of the inputs alone."""
        return row_fingerprints(self.encoder.comparable(self.matrix))

    def settled(self, found: np.ndarray) -> np.ndarray:
        """Return what holds for each row if it was found so: rows of a table are known one by one."""
        return found


def row_fingerprints(*parts: Any) -> np.ndarray:
    """Return a 64-bit number for each row of arrays that have the same rows."""
    return fingerprints(map(b"".join, zip(*map(_contents, parts), strict=True)))


def _contents(rows: Any) -> Iterable[bytes]:
    """Return the bytes of each row: those of images as they are, numbers as 64-bit floats."""
    rows = np.asarray(rows)
    if rows.dtype != np.uint8:
        # Adding zero turns −0 into 0, which is the same number in other bits.
        rows = rows.astype("<f8") + 0.0
    return (row.tobytes() for row in rows)


def fingerprints(contents: Iterable[bytes]) -> np.ndarray:
    """Return a 64-bit number for each content; equal contents have equal numbers."""
    digests = (hashlib.blake2b(content, digest_size=8).digest() for content in contents)
    return np.frombuffer(b"".join(digests), "<u8")


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _check_types(values: dict[str, Any], types: dict[str, Any]) -> None:
    """Raise TypeError unless values read from JSON have their types; numbers must be finite."""
    for name, value in values.items():
        inside = get_args(types[name])  # the types inside a tuple
        if inside and not isinstance(value, tuple):  # such as text, which is a sequence of text
            raise TypeError(f"{name} is {str(value)[:60]!r}")
        wanted = inside[0] if inside else types[name]
        for one in value if inside else [value]:
            known = isinstance(one, int | float if wanted is float else wanted)
            if not known or (wanted is float and not math.isfinite(one)):
                raise TypeError(f"{name} is {str(one)[:60]!r}")


def check_names(frame: pandas.DataFrame, targets: Sequence[str], **others: Sequence[str]) -> None:
    """Refuse targets, and columns named for other options, that are absent or contradictory."""
    available = f"The columns are {quoted_list(frame.columns, 12)}."
    if not targets:
        raise TableError(
            f"At least one target is needed, the column to predict: --target NAME. {available}"
        )
    problems = Problems()
    for option, names in {"target": targets, **others}.items():
        for name in names:
            with problems.collected():
                if name not in frame.columns:
                    raise TableError(f"There is no column {name!r} for {option}. {available}", name)
                if option != "target" and name in targets:
                    raise TableError(f"The column {name!r} is a target, so it cannot be for {option}.")
        with problems.collected():
            if len(set(names)) < len(names):
                raise TableError(f"A column was named twice for {option}. Got {quoted_list(names)}.")
    problems.raise_any()
    if len(targets) > 1:
        frame_columns(targets)  # refuses names that would collide in predictions
