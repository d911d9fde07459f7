"""A table → a matrix of numbers, in a way that is learned once from the training rows."""

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, get_args, get_type_hints

import numpy as np
import pandas

from vebnn.prediction import frame_columns
from vebnn.tabular.columns import CategoryColumn, Column, NumberColumn
from vebnn.tabular.detection import MAX_CATEGORIES, LeftOut, detect_column, training_notices
from vebnn.tabular.errors import TableError, counted, quoted_list
from vebnn.tabular.values import to_numbers

_COLUMN_KINDS: dict[str, Any] = {kind.kind: kind for kind in (NumberColumn, CategoryColumn)}


@dataclass(frozen=True)
class EncodedTable:
    """Rows of a user's table, encoded once for prediction, scores and reports."""

    encoder: "TableEncoder"
    frame: pandas.DataFrame  # the user's rows, indexed from 0
    matrix: pandas.DataFrame  # what the network sees of them
    notices: tuple[str, ...]  # about the values

    @cached_property
    def observed(self) -> np.ndarray:
        """The targets, ``(rows, targets)``, read when they are first asked for."""
        return self.encoder.target_values(self.frame)

    def __len__(self) -> int:
        return len(self.frame)

    def fingerprints(self) -> np.ndarray:
        """Return a 64-bit number for each row of inputs and targets; equal rows have equal numbers."""
        return _of_numbers(np.hstack([self.matrix.to_numpy(), self.observed]))

    def input_fingerprints(self) -> np.ndarray:
        """Return the same of the inputs alone."""
        return _of_numbers(self.matrix.to_numpy())


def _of_numbers(rows: np.ndarray) -> np.ndarray:
    # Adding zero turns −0 into 0, which is the same number in other bits.
    return fingerprints(row.tobytes() for row in rows.astype("<f8") + 0.0)


def fingerprints(contents: Iterable[bytes]) -> np.ndarray:
    """Return a 64-bit number for each content; equal contents have equal numbers."""
    digests = (hashlib.blake2b(content, digest_size=8).digest() for content in contents)
    return np.frombuffer(b"".join(digests), "<u8")


@dataclass(frozen=True)
class TableEncoder:
    """How each column of a table becomes numbers."""

    columns: tuple[Column, ...]  # those the model uses, in the order of the training table
    targets: tuple[str, ...]  # names of the columns to predict
    identifiers: tuple[str, ...]  # columns that only name a row; predictions keep them
    ignored: tuple[str, ...]  # other columns that the model does not use

    @classmethod
    def fit(
        cls,
        frame: pandas.DataFrame,
        targets: Sequence[str],
        *,
        drop: Sequence[str] = (),
        categorical: Sequence[str] = (),
        max_categories: int = MAX_CATEGORIES,
    ) -> "tuple[TableEncoder, tuple[str, ...]]":
        """Decide what every column is; return the encoder, and notices about what was decided.

        The arguments are those of :func:`vebnn.tabular.plan.plan_table`. The index of the training rows
        is their position in the user's table, for messages.
        """
        _check_names(frame, targets, drop, categorical)
        columns: list[Column] = []
        identifiers: list[str] = []
        ignored, notices = list(drop), []
        for name in frame.columns:
            if name in targets or name in drop:
                continue
            found = detect_column(frame[name], name in categorical, max_categories)
            if isinstance(found, LeftOut):
                (identifiers if found.identifier else ignored).append(name)
                notices.append(f"{name}: left out, because {found.reason}.")
                continue
            columns.append(found)
            notices += training_notices(found, frame[name])
        if not columns:
            raise TableError("No column is left to predict from. Add columns, or drop fewer of them.")
        return cls(tuple(columns), tuple(targets), tuple(identifiers), tuple(ignored)), tuple(notices)

    @property
    def encoded_names(self) -> list[str]:
        """Names of all columns the network sees."""
        return [name for column in self.columns for name in column.encoded_names]

    @property
    def label_names(self) -> list[str]:
        """Names of the columns whose values must be read as they are written."""
        categories = (column.name for column in self.columns if isinstance(column, CategoryColumn))
        return [*categories, *self.identifiers]

    @property
    def typical_row(self) -> dict[str, Any]:
        """The median or most frequent value of each column."""
        return {column.name: column.typical for column in self.columns}

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

    def encode(self, frame: pandas.DataFrame) -> EncodedTable:
        """Turn rows into numbers; ignore unknown columns, with a notice."""
        frame = frame.reset_index(drop=True)
        names = [column.name for column in self.columns]
        if absent := [name for name in names if name not in frame.columns]:
            raise TableError(
                f"The table lacks {quoted_list(absent)}, which the model was trained with. Its columns "
                f"are {quoted_list(frame.columns)}.",
                absent[0],
            )
        parts: list[np.ndarray] = []
        notices: list[str] = []
        for column in self.columns:
            values, about = column.encode(frame[column.name])
            parts.append(values)
            notices += about
        notices += self.notices_of_unknown(frame.columns)
        matrix = pandas.DataFrame(np.hstack(parts), columns=self.encoded_names)
        return EncodedTable(self, frame, matrix, tuple(notices))

    def target_values(self, frame: pandas.DataFrame) -> np.ndarray:
        """Return the targets of some rows, ``(rows, targets)``."""
        columns = []
        for name in self.targets:
            if name not in frame.columns:
                raise TableError(
                    f"There is no target column {name!r} in the table. Its columns are "
                    f"{quoted_list(frame.columns)}.",
                    name,
                )
            numbers = to_numbers(frame[name])
            if (missing := np.isnan(numbers)).any():
                row = int(frame.index[missing][0])
                raise TableError(
                    f"The target {name!r} is missing in {counted(int(missing.sum()), 'row')}, first in "
                    f"row {row + 1}. Fill in or delete these rows.",
                    name,
                    row,
                )
            columns.append(numbers)
        return np.column_stack(columns)

    def describe(self) -> dict[str, Any]:
        """Return the encoder as JSON."""
        return {
            "columns": [{"kind": column.kind, **asdict(column)} for column in self.columns],
            "targets": list(self.targets),
            "identifiers": list(self.identifiers),
            "ignored": list(self.ignored),
        }

    @classmethod
    def from_description(cls, description: dict[str, Any]) -> "TableEncoder":
        """Return an encoder from the JSON of :meth:`describe`."""
        columns = []
        for one in description["columns"]:
            fields = {name: _as_tuple(value) for name, value in one.items()}
            kind = _COLUMN_KINDS[str(fields.pop("kind"))]
            _check_types(fields, get_type_hints(kind))
            columns.append(kind(**fields))
        rest = {name: _as_tuple(description[name]) for name in ("targets", "identifiers", "ignored")}
        _check_types(rest, get_type_hints(cls))
        return cls(tuple(columns), **rest)


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


def _check_names(
    frame: pandas.DataFrame, targets: Sequence[str], drop: Sequence[str], categorical: Sequence[str]
) -> None:
    available = f"The columns are {quoted_list(frame.columns, 12)}."
    if not targets:
        raise TableError(
            f"At least one target is needed, the column to predict: --target NAME. {available}"
        )
    for option, names in (("target", targets), ("drop", drop), ("categorical", categorical)):
        for name in names:
            if name not in frame.columns:
                raise TableError(f"There is no column {name!r} for {option}. {available}", name)
        if len(set(names)) < len(names):
            raise TableError(f"A column was named twice for {option}. Got {quoted_list(names)}.")
    if len(targets) > 1:
        frame_columns(targets)  # refuses names that would collide in predictions
    if both := sorted(set(targets) & {*drop, *categorical}):
        raise TableError(f"The column {both[0]!r} is a target; it cannot be dropped or a category.")
