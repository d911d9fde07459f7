"""A table → a matrix of numbers, in a way that is learned once from the training rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas
from pandas.api import types

from vebnn.tabular.columns import (
    CategoryColumn,
    Column,
    NumberColumn,
    check_whole_target,
    describe_column,
    revive_column,
)
from vebnn.tabular.errors import TableError, counted, listed, shown
from vebnn.tabular.values import (
    MISSING,
    are_dates,
    labels_of,
    numbers_of,
    share_of_numbers,
    unit_of_numbers,
)

MOST_CATEGORIES = 50
FEWEST_DISTINCT = 20  # text with fewer values than this is a category, unless every row has its own
_IDENTIFIERS = {"id", "index", "row", "uuid", "unnamed: 0"}


class Inputs(NamedTuple):
    """What the network sees of some rows, and what the user should hear about them."""

    matrix: pandas.DataFrame
    notices: tuple[str, ...]


@dataclass(frozen=True)
class TableEncoder:
    """How each column of a table becomes numbers.

    Args:
      columns: those the model uses, in the order of the training table.
      targets: names of the columns to predict.
      identifiers: columns that only say which row is which; predictions keep them.
      ignored: other columns that the model does not use.
    """

    columns: tuple[Column, ...]
    targets: tuple[str, ...]
    identifiers: tuple[str, ...]
    ignored: tuple[str, ...]

    @classmethod
    def learn(
        cls,
        frame: pandas.DataFrame,
        targets: Sequence[str],
        *,
        drop: Sequence[str] = (),
        categorical: Sequence[str] = (),
    ) -> "tuple[TableEncoder, tuple[str, ...]]":
        """Decide what every column is.

        Args:
          frame: training rows; the index is the position in the user's table, for sentences.
          targets: names of the columns to predict.
          drop: columns to leave out.
          categorical: columns to take as categories although they hold numbers.

        Returns:
          the encoder, and sentences on what was decided.

        Raises:
          TableError: if a column is missing, or cannot be used as it is.
        """
        _check_names(frame, targets, drop, categorical)
        columns: list[Column] = []
        identifiers: list[str] = []
        ignored, notices = list(drop), []
        for name in frame.columns:
            if name in targets or name in drop:
                continue
            found = _learn_column(frame[name], name in categorical)
            if isinstance(found, _LeftOut):
                (identifiers if found.identifier else ignored).append(name)
                notices.append(f"{name}: left out, because {found.reason}.")
                continue
            columns.append(found)
            notices += _remarks(found, frame[name])
        if not columns:
            raise TableError("No column is left to predict from. Add columns, or drop fewer of them.")
        return cls(tuple(columns), tuple(targets), tuple(identifiers), tuple(ignored)), tuple(notices)

    @property
    def encoded_names(self) -> list[str]:
        """Names of all columns the network sees."""
        return [name for column in self.columns for name in column.encoded_names]

    def encode(self, frame: pandas.DataFrame) -> Inputs:
        """Turn rows into numbers; columns the model does not know are ignored, and that is said.

        Raises:
          TableError: if a column is missing, or holds what it must not.
        """
        names = [column.name for column in self.columns]
        absent = [name for name in names if name not in frame.columns]
        if absent:
            raise TableError(
                f"The table lacks {listed(absent)}, which the model was trained with. Its columns "
                f"are {listed(frame.columns)}.",
                absent[0],
            )
        encoded = [column.encode(frame[column.name]) for column in self.columns]
        notices = [notice for part in encoded for notice in part.notices]
        known = {*names, *self.targets, *self.identifiers, *self.ignored}
        unknown = [name for name in frame.columns if name not in known]
        if unknown:
            notices.append(f"Ignored, because the model does not know them: {listed(unknown)}.")
        matrix = np.hstack([part.values for part in encoded])
        return Inputs(
            pandas.DataFrame(matrix, index=frame.index, columns=self.encoded_names), tuple(notices)
        )

    def target_values(self, frame: pandas.DataFrame) -> np.ndarray:
        """Return the targets of some rows, ``(rows, targets)``.

        Raises:
          TableError: if a target is not there, missing in a row, or not a finite number.
        """
        columns = []
        for name in self.targets:
            if name not in frame.columns:
                raise TableError(
                    f"There is no target column {name!r} in the table. Its columns are "
                    f"{listed(frame.columns)}.",
                    name,
                )
            numbers = numbers_of(frame[name])
            check_whole_target(name, numbers, frame.index)
            columns.append(numbers)
        return np.column_stack(columns)

    def describe(self) -> dict[str, Any]:
        """Return the encoder as JSON."""
        return {
            "columns": [describe_column(column) for column in self.columns],
            "targets": list(self.targets),
            "identifiers": list(self.identifiers),
            "ignored": list(self.ignored),
        }

    @classmethod
    def revive(cls, description: dict[str, Any]) -> "TableEncoder":
        """Return an encoder from what :meth:`describe` said."""
        return cls(
            tuple(revive_column(column) for column in description["columns"]),
            *(tuple(description[name]) for name in ("targets", "identifiers", "ignored")),
        )


class _LeftOut(NamedTuple):
    reason: str
    identifier: bool = False


def _learn_column(series: pandas.Series, categorical: bool) -> Column | _LeftOut:
    name, missing = series.name, series.isna().to_numpy()
    if missing.all():
        return _LeftOut("it has no values")
    number = types.is_numeric_dtype(series.dtype) and not types.is_bool_dtype(series.dtype)
    if number and not categorical:
        return _learn_numbers(name, numbers_of(series))
    if series.map(lambda value: isinstance(value, list | tuple | dict | set | np.ndarray)).any():
        raise TableError(f"The column {name!r} holds lists. Give each entry a column of its own.", name)
    labels = labels_of(series)
    if are_dates(series, labels):
        raise TableError(
            f"The column {name!r} holds dates, which mean nothing to a network. Turn them into numbers "
            f"that matter (days since the start, month, hour), or leave the column out: --drop {name}.",
            name,
        )
    told = categorical or isinstance(series.dtype, pandas.CategoricalDtype)
    distinct, there = len(set(labels) - {MISSING}), int(np.sum(labels != MISSING))
    if not told and (share := share_of_numbers(labels)) > 0.5:
        if share == 1:  # numbers that were stored as text
            return _learn_numbers(name, numbers_of(series))
        # A few labels that come again and again, such as 6061, 7075 and A356, are categories.
        if distinct > min(FEWEST_DISTINCT, there / 2):
            _refuse_text_among_numbers(series)
    if not told and distinct > min(FEWEST_DISTINCT, there / 2):
        _refuse_quantities(name, labels)
    if distinct == 1 and there == len(labels):
        return _LeftOut("it has the same value in every row")
    of_its_own = distinct > there / 2 and (distinct > FEWEST_DISTINCT or distinct == there)
    if of_its_own and not told:
        return _LeftOut(
            f"it is text with {distinct:,} different values in {counted(there, 'row')}, like a name or "
            f"an identifier",
            identifier=True,
        )
    return CategoryColumn.learn(name, labels, MOST_CATEGORIES)


def _learn_numbers(name: str, numbers: np.ndarray) -> Column | _LeftOut:
    there = numbers[~np.isnan(numbers)]
    if len(np.unique(there)) == 1 and len(there) == len(numbers):
        return _LeftOut(f"it is {there[0]:g} in every row")
    word = name.strip().lower()
    named_so = word in _IDENTIFIERS or word.endswith(("_id", " id", "-id"))
    if named_so and len(np.unique(there)) == len(numbers):
        return _LeftOut("it is an identifier", identifier=True)
    return NumberColumn.learn(name, numbers)


def _refuse_text_among_numbers(series: pandas.Series) -> None:
    try:
        numbers_of(series)
    except TableError as error:
        raise TableError(
            f"{str(error).removesuffix('.')}; or say that these are categories: "
            f"--categorical {series.name}.",
            error.column,
            error.row,
        ) from None


def _refuse_quantities(name: str, labels: np.ndarray) -> None:
    unit = unit_of_numbers(labels)
    if unit is not None:
        reason = f"with {unit!r} behind them" if unit else "with commas or spaces in them"
        example = shown(labels[labels != MISSING][0])
        raise TableError(
            f"The column {name!r} holds numbers {reason}, such as {example}, which would be taken for "
            f"text. Write plain numbers, or leave the column out: --drop {name}.",
            name,
        )


def _remarks(column: Column, series: pandas.Series) -> list[str]:
    """Say what was done with missing and rare values, and what looks odd."""
    remarks = []
    if column.num_missing:
        way = (
            f"replaced by the median, {column.median:g}, and marked in a column of its own"
            if isinstance(column, NumberColumn)
            else "taken as a category of its own"
        )
        remarks.append(f"{column.name}: {counted(column.num_missing, 'missing value')} {way}.")
    if isinstance(column, CategoryColumn) and column.num_other:
        remarks.append(
            f"{column.name}: only the {len(column.categories)} most frequent categories have a column; "
            f"{counted(column.num_other, 'row')} of others count as none of them."
        )
    if isinstance(column, NumberColumn) and column.whole and not column.num_missing:
        values = np.asarray(series, float)
        if (
            len(values) > 2
            and np.all(np.diff(values) > 0)
            and column.high - column.low < 2 * len(values)
        ):
            remarks.append(
                f"{column.name}: looks like a row number. If it is one: --drop {column.name}."
            )
    return remarks


def _check_names(
    frame: pandas.DataFrame, targets: Sequence[str], drop: Sequence[str], categorical: Sequence[str]
) -> None:
    if not targets:
        raise TableError(
            f"At least one target is needed, the column to predict: --target NAME. The columns are "
            f"{listed(frame.columns, 12)}."
        )
    for what, names in (("target", targets), ("drop", drop), ("categorical", categorical)):
        for name in names:
            if name not in frame.columns:
                raise TableError(
                    f"There is no column {name!r} for {what}. The columns are "
                    f"{listed(frame.columns, 12)}.",
                    name,
                )
        if len(set(names)) < len(names):
            raise TableError(f"A column was named twice for {what}. Got {listed(names)}.")
    both = sorted(set(targets) & {*drop, *categorical})
    if both:
        raise TableError(f"The column {both[0]!r} is a target; it cannot be dropped or a category.")
