"""The values of one column: what they are, read as numbers or as labels."""

from typing import Any

import numpy as np
import pandas
from pandas.api import types

from vebnn.tabular.errors import TableError, shown

MISSING = "(missing)"
# 12.5 %, 350 °C, 1,234, 3.5 GPa
_QUANTITY = r"^[-+]?\d[\d.,' ]*?\s?(%|°?[A-Za-zµ²³/]{0,5})$"
# 2024-05-17, 17.05.2024, 5/17/24, each with or without a time.
_DATE = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}/\d{1,2}/\d{2})(?:\D.*)?"
)


def first_row(wrong: np.ndarray, index: pandas.Index) -> int:
    """Return the position in the whole table of the first wrong value of a part of it."""
    return int(index[int(np.argmax(wrong))])


def numbers_of(series: pandas.Series) -> np.ndarray:
    """Return a column as floats, not a number where a value is missing.

    Raises:
      TableError: if a value is not a number, or is infinite.
    """
    if types.is_complex_dtype(series.dtype):
        raise TableError(
            f"The column {series.name!r} holds complex numbers; use real ones.", series.name
        )
    if types.is_numeric_dtype(series.dtype):
        numbers = series.to_numpy(float, na_value=np.nan)
    else:
        labels = labels_of(series)
        numbers = _parsed(labels)
        wrong = np.isnan(numbers) & (labels != MISSING)
        if wrong.any():
            row = first_row(wrong, series.index)
            raise TableError(
                f"The column {series.name!r} must hold numbers, but row {row + 1} has "
                f"{shown(labels[np.argmax(wrong)])}. Correct the value, or leave the cell empty.",
                series.name,
                row,
            )
    infinite = np.isinf(numbers)
    if infinite.any():
        row = first_row(infinite, series.index)
        raise TableError(
            f"The column {series.name!r} must hold finite numbers, but row {row + 1} has "
            f"{numbers[np.argmax(infinite)]:g}. Correct the value, or leave the cell empty.",
            series.name,
            row,
        )
    return numbers


def labels_of(series: pandas.Series) -> np.ndarray:
    """Return a column as text: 1, 1.0 and "1 " are the same label."""
    missing = series.isna().to_numpy()
    labels = np.array([label_of(value) for value in series.astype(object)], object)
    return np.where(missing | (labels == ""), MISSING, labels)


def label_of(value: Any) -> str:
    """Return one value as text."""
    if isinstance(value, float | np.floating) and value == np.round(value) and np.isfinite(value):
        return str(int(value))
    return str(value).strip()


def share_of_numbers(labels: np.ndarray) -> float:
    """Return which share of the labels that are there could be read as numbers."""
    there = labels[labels != MISSING]
    return float(np.mean(~np.isnan(_parsed(there)))) if len(there) else 0.0


def unit_of_numbers(labels: np.ndarray) -> str | None:
    """Return what stands behind nearly all numbers of a column: ``"%"``, ``"°C"``, or nothing at all.

    Nothing at all means numbers written in a way that is not understood, such as 1,234. The answer is
    ``None`` if the labels do not look like numbers.
    """
    there = pandas.Series(labels[labels != MISSING], dtype=object).astype(str)
    units = there.str.extract(_QUANTITY, expand=False).dropna()
    if not len(units):
        return None
    most = units.value_counts()
    return str(most.index[0]).strip() if most.iloc[0] > 0.8 * len(there) else None


def are_dates(series: pandas.Series, labels: np.ndarray) -> bool:
    """Say whether a column holds dates or times, as such or written out."""
    if series.dtype.kind in "mM" or isinstance(series.dtype, pandas.PeriodDtype):
        return True
    there = pandas.Series(labels[labels != MISSING], dtype=object)
    return len(there) > 0 and bool(there.astype(str).str.fullmatch(_DATE).mean() > 0.5)


def _parsed(labels: np.ndarray) -> np.ndarray:
    return pandas.to_numeric(pandas.Series(labels, dtype=object), errors="coerce").to_numpy(float)
