"""What a column of the training rows is: numbers, dates, categories, an identifier, or unusable."""

from typing import NamedTuple

import numpy as np
import pandas
from pandas.api import types

from vebnn.tabular.columns import CategoryColumn, Column, NumberColumn
from vebnn.tabular.date_column import DateColumn
from vebnn.tabular.dates import DateForm, find_form, to_days, written
from vebnn.tabular.errors import TableError, counted, option, quoted
from vebnn.tabular.values import (
    MISSING,
    common_unit,
    has_leading_zero,
    numeric_share,
    to_labels,
    to_numbers,
)

MAX_CATEGORIES = 50  # with a column of their own
FEWEST_DISTINCT = 20  # text with fewer values than this is a category, unless every row has its own
_IDENTIFIER_NAMES = {"id", "index", "row", "uuid", "unnamed: 0"}


class LeftOut(NamedTuple):
    """A column that the model does not use."""

    reason: str
    identifier: bool = False


def detect_column(
    series: pandas.Series,
    categorical: bool,
    max_categories: int = MAX_CATEGORIES,
    form: DateForm | None = None,
) -> Column | LeftOut:
    """Decide what a column is, from its training values.

    Args:
      series: the column.
      categorical: the user's declaration that it holds categories.
      max_categories: most categories that have an input of their own.
      form: how dates are written, if that is known; by default, the column decides.
    """
    name = series.name
    if series.isna().all():
        return LeftOut("it has no values")
    number = types.is_numeric_dtype(series.dtype) and not types.is_bool_dtype(series.dtype)
    if number and not categorical:
        return _fit_numbers(name, to_numbers(series))
    if series.map(lambda value: isinstance(value, list | tuple | dict | set | np.ndarray)).any():
        raise TableError(f"The column {name!r} holds lists. Give each entry a column of its own.", name)
    if series.dtype.kind == "m":
        raise TableError(
            f"The column {name!r} holds durations. Turn them into numbers, such as seconds, or add "
            f"{option('drop', name)} to leave the column out.",
            name,
        )
    labels = to_labels(series)
    if not categorical and (form := form or find_form(series, labels)) is not None:
        return _fit_dates(name, to_days(series, form.order), form)
    if categorical and numeric_share(labels) == 1 and not any(map(has_leading_zero, labels)):
        labels = to_labels(pandas.Series(to_numbers(series)))  # 1.0 and 1 are one category
    declared = categorical or isinstance(series.dtype, pandas.CategoricalDtype)
    distinct, present = len(set(labels) - {MISSING}), int(np.sum(labels != MISSING))
    many = distinct > min(FEWEST_DISTINCT, present / 2)
    if not declared and (share := numeric_share(labels)) > 0.5:
        if share == 1:  # numbers that were stored as text
            return _fit_numbers(name, to_numbers(series))
        if many:  # a few labels that repeat, such as 6061, 7075 and A356, are categories
            try:
                to_numbers(series)
            except TableError as error:
                way_out = f"or add {option('categorical', name)} to take the column as categories."
                message = f"{str(error).removesuffix('.')}; {way_out}"
                raise TableError(message, error.column, error.row) from None
    if not declared and many:
        _refuse_quantities(name, labels)
    if distinct == 1 and present == len(labels):
        return LeftOut("it has the same value in every row")
    unique = distinct > present / 2 and (distinct > FEWEST_DISTINCT or distinct == present)
    if unique and not declared:
        return LeftOut(
            f"it is text with {distinct:,} different values in {counted(present, 'row')}, like a name "
            f"or an identifier",
            identifier=True,
        )
    return CategoryColumn.fit(name, labels, max_categories)


def _fit_numbers(name: str, numbers: np.ndarray) -> Column | LeftOut:
    distinct = np.unique(numbers[~np.isnan(numbers)])
    if len(distinct) == 1 and not np.isnan(numbers).any():
        return LeftOut(f"it is {distinct[0]:g} in every row")
    word = name.strip().lower()
    named_so = word in _IDENTIFIER_NAMES or word.endswith(("_id", " id", "-id"))
    if named_so and len(distinct) == len(numbers):
        return LeftOut("it is an identifier", identifier=True)
    return NumberColumn.fit(name, numbers)


def _fit_dates(name: str, days: np.ndarray, form: DateForm) -> Column | LeftOut:
    distinct = np.unique(days[~np.isnan(days)])
    if len(distinct) == 1 and not np.isnan(days).any():
        return LeftOut(f"it is {written(distinct[0], time=bool(distinct[0] % 1))} in every row")
    return DateColumn.fit(name, days, form)


def _refuse_quantities(name: str, labels: np.ndarray) -> None:
    if (unit := common_unit(labels)) is not None:
        notation = f"with {unit!r} behind them" if unit else "with commas or spaces in them"
        example = quoted(labels[labels != MISSING][0])
        raise TableError(
            f"The column {name!r} holds numbers {notation}, such as {example}, which would be read as "
            f"text. Write plain numbers, or add {option('drop', name)} to leave the column out.",
            name,
        )


def training_notices(column: Column, series: pandas.Series) -> list[str]:
    """Return notices about dates, missing and rare values, and numbers that look like row numbers."""
    name, notices = column.name, []
    if isinstance(column, DateColumn):
        notices.append(_reading_of_dates(column))
    if column.num_missing:
        treatment = "taken as a category of its own"
        if not isinstance(column, CategoryColumn):
            median = column.typical if isinstance(column, DateColumn) else f"{column.median:g}"
            treatment = f"replaced by the median, {median}, and marked in a column of its own"
        notices.append(f"{name}: {counted(column.num_missing, 'missing value')} {treatment}.")
    if isinstance(column, CategoryColumn) and column.num_other:
        notices.append(
            f"{name}: only the {len(column.categories)} most frequent categories have a column; "
            f"{counted(column.num_other, 'row')} of others count as none of them. For more columns: "
            f"--max-categories {len(column.categories) + len(column.rare)}."
        )
    if isinstance(column, NumberColumn) and column.whole and not column.num_missing:
        values = np.asarray(series, float)
        increasing = len(values) > 2 and bool(np.all(np.diff(values) > 0))
        if increasing and column.high - column.low < 2 * len(values):
            notices.append(f"{name}: looks like a row number. If so, add {option('drop', name)}.")
    return notices


def _reading_of_dates(column: DateColumn) -> str:
    reading = f"{column.name}: dates, read as {column.order}; they become {', '.join(column.parts)}."
    if column.sure:
        return reading
    return f"{reading} Day and month could be swapped; to be sure, write dates as in 2024-05-17."
