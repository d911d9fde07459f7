"""A table → a matrix of numbers, in a way that is learned once from the training rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pandas

from vebnn.tabular.columns import CategoryColumn, Column, NumberColumn
from vebnn.tabular.date_column import DateColumn
from vebnn.tabular.dates import DateForm
from vebnn.tabular.detection import MAX_CATEGORIES, LeftOut, detect_column, training_notices
from vebnn.tabular.encoded import EncodedTable, Encoder, check_names
from vebnn.tabular.errors import Problems, TableError


@dataclass(frozen=True)
class TableEncoder(Encoder):
    """How each column of a table becomes numbers."""

    column_kinds: ClassVar = {kind.kind: kind for kind in (NumberColumn, CategoryColumn, DateColumn)}
    sample_rows: ClassVar = 1_000

    columns: tuple[Column, ...]  # those the model uses, in the order of the training table

    @classmethod
    def fit(
        cls,
        frame: pandas.DataFrame,
        targets: Sequence[str],
        *,
        drop: Sequence[str] = (),
        categorical: Sequence[str] = (),
        max_categories: int = MAX_CATEGORIES,
        forms: Mapping[str, DateForm] = MappingProxyType({}),
    ) -> "tuple[TableEncoder, tuple[str, ...]]":
        """Decide what every column is; return the encoder, and notices about what was decided.

        The arguments are those of :func:`vebnn.tabular.plan.plan_table`. The index of the training rows
        is their position in the user's table, for messages. ``forms`` says how dates are written where
        that is known, see :attr:`forms`.

        Raises:
          TableError: about everything that is wrong.
        """
        check_names(frame, targets, drop=drop, categorical=categorical)
        columns: list[Column] = []
        identifiers: list[str] = []
        ignored, notices, problems = list(drop), [], Problems()
        for name in frame.columns:
            if name in targets or name in drop:
                continue
            found: Column | LeftOut | None = None
            with problems.collected(name):
                found = detect_column(frame[name], name in categorical, max_categories, forms.get(name))
            if found is None:
                continue
            if isinstance(found, LeftOut):
                (identifiers if found.identifier else ignored).append(name)
                notices.append(f"{name}: left out, because {found.reason}.")
                continue
            columns.append(found)
            notices += training_notices(found, frame[name])
        problems.raise_any()
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
    def forms(self) -> dict[str, DateForm]:
        """How dates are written, by the name of the column."""
        dates = (column for column in self.columns if isinstance(column, DateColumn))
        return {column.name: DateForm(column.order, column.sure) for column in dates}

    def decode(self, row: np.ndarray) -> dict[str, Any]:
        """Return the values of one encoded row, None where one was missing or is not known."""
        ends = np.cumsum([len(column.encoded_names) for column in self.columns])[:-1]
        parts = zip(self.columns, np.split(row, ends), strict=True)
        return {column.name: column.decode(values) for column, values in parts}

    def encode(self, frame: pandas.DataFrame, first_row: int = 0) -> EncodedTable:
        """Turn rows into numbers; ignore unknown columns, with a notice.

        The ``first_row`` is the position of the first of them in the user's table.
        """
        frame = frame.set_axis(pandas.RangeIndex(first_row, first_row + len(frame)))
        self.refuse_absent(frame)
        parts: list[np.ndarray] = []
        notices: list[str] = []
        problems = Problems()
        for column in self.columns:
            with problems.collected():
                values, about = column.encode(frame[column.name])
                parts.append(values)
                notices += about
        problems.raise_any()
        notices += self.notices_of_unknown(frame.columns)
        return EncodedTable(self, frame, self.as_inputs(np.hstack(parts)), tuple(notices))

    def widened(self, encoded: np.ndarray) -> "TableEncoder":
        """Return the encoder with ranges that hold more rows; it encodes all rows as before."""
        columns, place = [], 0
        for column in self.columns:
            size = len(column.encoded_names)
            columns.append(column.widened(encoded[:, place : place + size]))
            place += size
        return replace(self, columns=tuple(columns))

    def as_inputs(self, rows: np.ndarray) -> pandas.DataFrame:
        """Return encoded rows with the names of their columns."""
        return pandas.DataFrame(rows, columns=self.encoded_names)
