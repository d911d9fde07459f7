"""The values of one column, read as numbers or as labels."""

import re
from typing import Any

import numpy as np
import pandas
from pandas.api import types

from vebnn.tabular.errors import TableError, counted, quoted

MISSING = "(missing)"
# 12.5 %, 350 °C, 1,234, 3.5 GPa
_QUANTITY = r"^[-+]?\d[\d.,' ]*?\s?(%|°?[A-Za-zµ²³/]{0,5})$"


def to_numbers(series: pandas.Series) -> np.ndarray:
    """Return a column as floats, NaN where a value is missing."""
    if types.is_complex_dtype(series.dtype):
        message = f"The column {series.name!r} holds complex numbers; use real ones."
        raise TableError(message, series.name)
    if types.is_numeric_dtype(series.dtype):
        numbers = series.to_numpy(float, na_value=np.nan)
    else:
        labels = to_labels(series)
        numbers = _parse(labels)
        refuse_cells(series, np.isnan(numbers) & (labels != MISSING), "numbers", map(quoted, labels))
    refuse_cells(series, np.isinf(numbers), "finite numbers", (f"{number:g}" for number in numbers))
    return numbers


def refuse_cells(series: pandas.Series, wrong: np.ndarray, constraint: str, written: Any) -> None:
    """Raise an error that names the first wrong value, if there is one."""
    if wrong.any():
        row, value = int(series.index[wrong][0]), list(written)[int(np.argmax(wrong))]
        raise TableError(
            f"The column {series.name!r} must hold {constraint}, but row {row + 1} has {value}. "
            f"Correct the value, or leave the cell empty.",
            series.name,
            row,
        )


def refuse_new_gaps(series: pandas.Series, missing: np.ndarray) -> None:
    """Raise an error if values are missing in a column that had no gaps in training."""
    if missing.any():
        row = int(series.index[missing][0])
        raise TableError(
            f"The column {series.name!r} is missing in {counted(int(missing.sum()), 'row')}, first "
            f"in row {row + 1}, but had no gaps in training. Fill them in, or delete these rows.",
            series.name,
            row,
        )


def to_labels(series: pandas.Series) -> np.ndarray:
    """Return a column as text: 1, 1.0 and "1 " are the same label."""
    missing = series.isna().to_numpy()
    labels = np.array([to_label(value) for value in series.astype(object)], object)
    return np.where(missing | (labels == ""), MISSING, labels)


def to_label(value: Any) -> str:
    """Return the text of one value; whole numbers have no decimals."""
    if isinstance(value, float | np.floating) and value == np.round(value) and np.isfinite(value):
        return str(int(value))
    return str(value).strip()


def has_leading_zero(label: str) -> bool:
    """Return whether a label looks like a number but is a code, such as 007."""
    return re.match(r"[-+]?0\d", label) is not None


def as_number_label(label: str) -> str:
    """Return the label of the number or truth value that a text stands for: 1 for 1.0 and 01."""
    number = _parse(np.array([label], object))[0]
    if np.isfinite(number):
        return to_label(float(number))
    return label.capitalize() if label.lower() in ("true", "false") else label


def numeric_share(labels: np.ndarray) -> float:
    """Return the share of the present labels that can be read as numbers."""
    present = labels[labels != MISSING]
    return float(np.mean(~np.isnan(_parse(present)))) if len(present) else 0.0


def common_unit(labels: np.ndarray) -> str | None:
    """Return the unit behind nearly all numbers of a column, such as ``"%"`` or ``"°C"``.

    The empty string means numbers in a notation that is not understood, such as 1,234; ``None`` means
    that the labels do not look like numbers.
    """
    present = pandas.Series(labels[labels != MISSING], dtype=object).astype(str)
    units = present.str.extract(_QUANTITY, expand=False).dropna()
    if not len(units):
        return None
    most = units.value_counts()
    return str(most.index[0]).strip() if most.iloc[0] > 0.8 * len(present) else None


def _parse(labels: np.ndarray) -> np.ndarray:
    return pandas.to_numeric(pandas.Series(labels, dtype=object), errors="coerce").to_numpy(float)
