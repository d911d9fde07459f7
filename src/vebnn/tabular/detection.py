"""What a column of the training rows is: numbers, categories, an identifier, or unusable."""

from typing import NamedTuple

import numpy as np
import pandas
from pandas.api import types

from vebnn.tabular.columns import CategoryColumn, Column, NumberColumn
from vebnn.tabular.errors import TableError, counted, quoted
from vebnn.tabular.values import (
    MISSING,
    common_unit,
    has_leading_zero,
    look_like_dates,
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
    series: pandas.Series, categorical: bool, max_categories: int = MAX_CATEGORIES
) -> Column | LeftOut:
    """Decide what a column is, from its training values; ``categorical`` is the user's declaration."""
    name = series.name
    if series.isna().all():
        return LeftOut("it has no values")
    number = types.is_numeric_dtype(series.dtype) and not types.is_bool_dtype(series.dtype)
    if number and not categorical:
        return _fit_numbers(name, to_numbers(series))
    if series.map(lambda value: isinstance(value, list | tuple | dict | set | np.ndarray)).any():
        raise TableError(f"The column {name!r} holds lists. Give each entry a column of its own.", name)
    labels = to_labels(series)
    if look_like_dates(series, labels):
        raise TableError(
            f"The column {name!r} holds dates, which a network cannot use. Turn them into numbers "
            f"(days since the start, month, hour), or leave the column out: --drop {name}.",
            name,
        )
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
                way_out = f"or declare the column as categories: --categorical {name}."
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


def _refuse_quantities(name: str, labels: np.ndarray) -> None:
    if (unit := common_unit(labels)) is not None:
        notation = f"with {unit!r} behind them" if unit else "with commas or spaces in them"
        example = quoted(labels[labels != MISSING][0])
        raise TableError(
            f"The column {name!r} holds numbers {notation}, such as {example}, which would be read as "
            f"text. Write plain numbers, or leave the column out: --drop {name}.",
            name,
        )


def training_notices(column: Column, series: pandas.Series) -> list[str]:
    """Return notices about missing and rare values, and about numbers that look like row numbers."""
    name, notices = column.name, []
    if column.num_missing:
        treatment = (
            f"replaced by the median, {column.median:g}, and marked in a column of its own"
            if isinstance(column, NumberColumn)
            else "taken as a category of its own"
        )
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
            notices.append(f"{name}: looks like a row number. If it is one: --drop {name}.")
    return notices
