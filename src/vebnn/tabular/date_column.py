"""A column of dates → a trend and the parts of the calendar, as learned from the training rows."""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import pandas

from vebnn.tabular.dates import FORMS, DateForm, to_days, written
from vebnn.tabular.notices import CountedNotice

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FIRST_WEEKDAY = 3  # 1970-01-01 was a Thursday


class Calendar(NamedTuple):
    """Parts of dates, one for each row."""

    year: np.ndarray
    month: np.ndarray  # from 0, with the day as a fraction
    day: np.ndarray  # of the month, from 0
    weekday: np.ndarray  # from 0, Monday
    hour: np.ndarray  # with minutes as a fraction

    @classmethod
    def of(cls, days: np.ndarray) -> "Calendar":
        """Return the parts of dates given as days since 1970."""
        whole = np.floor(days)
        dates = whole.astype(int).astype("datetime64[D]")
        months = dates.astype("datetime64[M]")
        first = months.astype("datetime64[D]")
        day = (dates - first).astype(float)
        length = ((months + 1).astype("datetime64[D]") - first).astype(float)
        return cls(
            year=dates.astype("datetime64[Y]").astype(float) + 1970,
            month=months.astype(int) % 12 + (day + days - whole) / length,
            day=day,
            weekday=(whole.astype(int) + _FIRST_WEEKDAY) % 7,
            hour=24 * (days - whole),
        )


@dataclass(frozen=True)
class DateColumn:
    """A column of dates: a trend, and those parts of the calendar that vary in the training rows.

    The month, with the day as its fraction, and the hour are a sine and a cosine each, because the end
    of a year or of a day is next to its beginning. Weekdays are one-hot: Friday and Saturday are
    neighbours, but need not be alike. A missing date becomes the median, and a column marks it.
    """

    kind: ClassVar[str] = "date"
    name: str
    order: str  # how dates are written, a key of FORMS
    sure: bool  # whether the column leaves no other order open
    low: float  # earliest training date, in days since 1970
    high: float  # latest training date
    median: float  # of the training dates, one of them
    parts: tuple[str, ...]  # of "trend", "year", "month", "weekday" and "hour"
    weekdays: tuple[str, ...]  # those of the training dates, if they are a part
    num_missing: int  # in the training rows; if none, no column marks them

    def __post_init__(self) -> None:
        if self.order not in FORMS:
            raise LookupError(self.order)

    @classmethod
    def fit(cls, name: str, days: np.ndarray, form: DateForm) -> "DateColumn":
        """Learn from training dates, NaN where missing."""
        present = np.sort(days[~np.isnan(days)])
        calendar = Calendar.of(present)
        vary = {
            "trend": True,
            # With one date per year, the year would be the trend again.
            "year": np.ptp(calendar.year) > 0 and np.ptp(calendar.month) > 0,
            "month": len(np.unique(np.floor(calendar.month))) > 1,
            # Monthly and yearly tables have one day of the month; its weekday is an accident.
            "weekday": np.ptp(calendar.weekday) > 0 and np.ptp(calendar.day) > 0,
            "hour": np.ptp(calendar.hour) > 1e-4,
        }
        parts = tuple(part for part, varies in vary.items() if varies)
        seen = np.unique(calendar.weekday) if "weekday" in parts else ()
        return cls(
            name,
            form.order,
            form.sure,
            low=float(present[0]),
            high=float(present[-1]),
            median=float(present[(len(present) - 1) // 2]),
            parts=parts,
            weekdays=tuple(WEEKDAYS[number] for number in seen),
            num_missing=len(days) - len(present),
        )

    @property
    def encoded_names(self) -> list[str]:
        """Names of the columns the network sees."""
        endings = {
            "trend": ["trend"],
            "year": ["year"],
            "month": ["month, sine", "month, cosine"],
            "weekday": self.weekdays,
            "hour": ["hour, sine", "hour, cosine"],
        }
        names = [f"{self.name} ({ending})" for part in self.parts for ending in endings[part]]
        return [*names, f"{self.name} is missing"] if self.num_missing else names

    @property
    def summary(self) -> str:
        """The range of the training dates, and what they become."""
        return f"{self.period}; {', '.join(self.parts)}"

    @property
    def period(self) -> str:
        """The range of the training dates."""
        return f"{self.written(self.low)} to {self.written(self.high)}"

    @property
    def typical(self) -> str:
        """The median, as text."""
        return self.written(self.median)

    @property
    def has_times(self) -> bool:
        """Whether dates are written with their times."""
        return "hour" in self.parts or self.low % 1 != 0

    def written(self, day: float) -> str:
        """Return a date as text."""
        return written(day, time=self.has_times)

    def to_days(self, series: pandas.Series) -> np.ndarray:
        """Return dates as days since 1970, NaN where missing."""
        return to_days(series, self.order)

    def widened(self, encoded: np.ndarray) -> "DateColumn":
        """Return the column with a range that holds more rows, given by its encoded columns."""
        low, high = float(encoded[:, 0].min()), float(encoded[:, 0].max())  # the trend comes first
        return replace(self, low=min(self.low, low), high=max(self.high, high))

    def decode(self, values: np.ndarray) -> str | None:
        """Return the date of one encoded row as text, None where it was missing."""
        missing = self.num_missing > 0 and values[-1] > 0
        return None if missing else self.written(float(values[self.parts.index("trend")]))

    def encode(self, series: pandas.Series) -> tuple[np.ndarray, list[str]]:
        """Return the columns the network sees, and notices about the dates."""
        days = self.to_days(series)
        missing = np.isnan(days)
        filled = np.where(missing, self.median, days)
        calendar = Calendar.of(filled)
        weekday = np.array(WEEKDAYS)[calendar.weekday]
        year, day = 2 * np.pi * calendar.month / 12, 2 * np.pi * calendar.hour / 24
        columns = {
            "trend": [filled],
            "year": [calendar.year],
            "month": [np.sin(year), np.cos(year)],
            "weekday": [weekday == name for name in self.weekdays],
            "hour": [np.sin(day), np.cos(day)],
        }
        values = [column for part in self.parts for column in columns[part]]
        values += [missing] if self.num_missing else []
        notices: list[str] = []
        if missing.any():
            number, rest = int(missing.sum()), f" replaced by the median, {self.typical}."
            notices.append(CountedNotice(f"{self.name}: ", number, "missing value", rest))
        if outside := int(np.sum((filled < self.low) | (filled > self.high))):
            rest = f" outside the training range, {self.period}."
            notices.append(CountedNotice(f"{self.name}: ", outside, "date", rest))
        if self.weekdays and (unseen := int(np.sum(~np.isin(weekday, self.weekdays)))):
            rest = " on a weekday that was never seen in training."
            notices.append(CountedNotice(f"{self.name}: ", unseen, "date", rest))
        return np.column_stack(values).astype(float), notices
