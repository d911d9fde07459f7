"""The time of each row, by which the latest rows can be held out."""

from typing import NamedTuple

import numpy as np
import pandas
from pandas.api import types

from vebnn.tabular.dates import find_form, to_days, written
from vebnn.tabular.division import Division
from vebnn.tabular.errors import TableError, counted, quoted
from vebnn.tabular.values import numeric_share, to_labels, to_numbers


class TimeOrder(NamedTuple):
    """The times of all rows: numbers, or days since 1970 if they are dates."""

    column: str
    times: np.ndarray  # (rows,)
    dates: bool

    @classmethod
    def read(cls, frame: pandas.DataFrame, column: str, *, role: str = "time") -> "TimeOrder":
        """Read a column of dates or numbers, without gaps; errors name its role."""
        series = frame[column]
        number = types.is_numeric_dtype(series.dtype)
        form = None if number else find_form(series, to_labels(series))
        if form is None and not number and numeric_share(to_labels(series)) <= 0.5:
            example = next((quoted(value) for value in series.dropna()), "no values")
            raise TableError(
                f"The {role} {column!r} must hold dates or numbers. Got {example}; choose another "
                f"column.",
                column,
            )
        times = to_numbers(series) if form is None else to_days(series, form.order)
        if (missing := np.isnan(times)).any():
            row = int(frame.index[missing][0])
            raise TableError(
                f"The {role} {column!r} is missing in {counted(int(missing.sum()), 'row')}, first in "
                f"row {row + 1}. Fill it in, or delete these rows.",
                column,
                row,
            )
        return cls(column, times, form is not None)

    def notices(self, division: Division) -> list[str]:
        """Return from which times on rows are held out, and used for the calibration."""
        uses = []
        if len(division.held_out):
            first = self._written(self.times[division.held_out].min())
            uses.append(
                f"the latest {counted(len(division.held_out), 'row')}, from {first} on, are held out"
            )
        if len(division.calibrated):
            first = self._written(self.times[division.calibrated].min())
            uses.append(
                f"{counted(len(division.calibrated), 'row')} before, from {first} on, calibrate"
            )
        last = self._written(self.times[division.trained].max())
        return [f"{self.column}: {'; '.join(uses)}; the training ends with {last}."]

    def _written(self, time: float) -> str:
        if not self.dates:
            return f"{time:g}"
        return written(time, time=bool(np.any(self.times % 1)))
