"""Dates and times of one column: in which order they are written, and their days since 1970."""

import re
from typing import NamedTuple

import numpy as np
import pandas

from vebnn.tabular.values import MISSING, refuse_cells, to_labels

ISO = "year/month/day"
_MONTHS_FIRST, _DAYS_FIRST = "month/day/year", "day/month/year"
# The order of a date → ways to write it, with one space between the parts.
FORMS = {
    ISO: ("%Y %m %d", "%Y %b %d", "%Y %m"),
    _DAYS_FIRST: ("%d %m %Y", "%d %m %y", "%d %b %Y", "%d %b %y"),
    _MONTHS_FIRST: ("%m %d %Y", "%m %d %y", "%b %d %Y", "%b %d %y"),
    "month/year": ("%b %Y",),
}
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_EXAMPLE = "2024-05-17"
_CELL = re.compile(
    rf"""^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?
    (?P<date>\d{{4}}([-/.])\d{{1,2}}(?:\2\d{{1,2}})?       # 2024-05-17, 2024-05
      |\d{{1,2}}([-/.])\d{{1,2}}\3\d{{4}}                  # 17.05.2024
      |\d{{1,2}}/\d{{1,2}}/\d{{2}}|\d{{2}}\.\d{{2}}\.\d{{2}}  # 5/17/24, 17.05.24
      |\d{{1,2}}[-/.\s]+{_MONTH}[-/.,\s]+(?:\d{{4}}|\d{{2}})  # 17 May 2024, 17-May-24
      |{_MONTH}[-/.\s]+(?:\d{{1,2}}[-/.,\s]+)?\d{{4}}         # May 17, 2024; May 2024
      |\d{{4}}[-/.\s]+{_MONTH}[-/.\s]+\d{{1,2}})              # 2024-May-17
    (?:(?:t|,?\s+)(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}})(?::(?P<second>\d{{2}}(?:\.\d+)?))?
      (?:\s*(?P<half>[ap])\.?m\.?)?)?
    \s*(?:z|utc|gmt|[-+]\d{{2}}:?\d{{2}})?$""",
    re.IGNORECASE | re.VERBOSE,
)


class DateForm(NamedTuple):
    """How the dates of a column are written."""

    order: str  # a key of FORMS
    sure: bool  # whether no other order fits as many cells, or all give the same dates


def find_form(series: pandas.Series, labels: np.ndarray) -> DateForm | None:
    """Return how the dates of a column are written, or None if fewer than half of its cells are dates.

    The order that fits most cells is taken. If the order of day and month stays open, it is that in
    which the rows are sorted by time; then that of the month first if the parts are separated by
    slashes, else of the day first.
    """
    if has_date_type(series):
        return DateForm(ISO, True)
    present = labels[labels != MISSING]
    found = {order: _read(present, order) for order in FORMS}
    counts = {order: int(np.sum(~np.isnan(days))) for order, days in found.items()}
    most = max(counts.values())
    if most <= len(present) / 2:
        return None
    fitting = [order for order, count in counts.items() if count == most]
    if "/" in present[0]:
        fitting.sort(key=lambda order: order != _MONTHS_FIRST)
    fitting.sort(key=lambda order: not _is_sorted(found[order]))
    days = found[fitting[0]]
    same = all(np.array_equal(days, found[other], equal_nan=True) for other in fitting)
    return DateForm(fitting[0], same)


def has_date_type(series: pandas.Series) -> bool:
    """Return whether the cells are dates already."""
    return series.dtype.kind == "M" or isinstance(series.dtype, pandas.PeriodDtype)


def to_days(series: pandas.Series, order: str) -> np.ndarray:
    """Return a column of dates as days since 1970, with the time as a fraction; NaN where missing.

    A cell may also be written as in 2024-05-17. Offsets such as +02:00 are dropped: what counts is the
    time on the clock.
    """
    if has_date_type(series):
        periods = isinstance(series.dtype, pandas.PeriodDtype)
        times = series.dt.to_timestamp() if periods else series.dt.tz_localize(None)
        return _days_of(times)
    labels = to_labels(series)
    days = _read(labels, order)
    days = np.where(np.isnan(days), _read(labels, ISO), days)
    constraint = f"dates written as {order}, or as {_EXAMPLE}"
    refuse_cells(series, np.isnan(days) & (labels != MISSING), constraint, map(repr, labels))
    return days


def written(day: float, *, time: bool) -> str:
    """Return a date from its days since 1970, as in 2024-05-17 or 2024-05-17 10:30."""
    stamp = pandas.Timestamp(day, unit="D").round("s")
    if not time:
        return stamp.strftime("%Y-%m-%d")
    return stamp.strftime("%Y-%m-%d %H:%M:%S" if stamp.second else "%Y-%m-%d %H:%M")


def _read(labels: np.ndarray, order: str) -> np.ndarray:
    """Return days since 1970, NaN for what is no date of that order."""
    place, distinct = pandas.factorize(labels)
    parts = pandas.Series(distinct, dtype=object).str.extract(_CELL)
    date = parts["date"].str.replace(r"([A-Za-z]{3})[A-Za-z]*", r"\1", regex=True)
    date = date.str.replace(r"[-/.,\s]+", " ", regex=True)
    days = np.full(len(distinct), np.nan)
    for form in FORMS[order]:
        found = _days_of(pandas.to_datetime(date, format=form, errors="coerce"))
        days = np.where(np.isnan(days), found, days)
    hour, minute, second = (
        parts[name].astype(float).fillna(0).to_numpy() for name in ("hour", "minute", "second")
    )
    half = parts["half"].str.lower()
    limit = np.where(half.isna(), 24, 13)
    hour = np.where(half.isna(), hour, hour % 12 + 12 * (half == "p"))
    given = parts["hour"].astype(float).fillna(0).to_numpy()
    valid = (given < limit) & (minute < 60) & (second < 60)
    return np.where(valid, days + (hour + (minute + second / 60) / 60) / 24, np.nan)[place]


def _days_of(times: pandas.Series) -> np.ndarray:
    return ((times - pandas.Timestamp(0)) / pandas.Timedelta(days=1)).to_numpy(float, na_value=np.nan)


def _is_sorted(days: np.ndarray) -> bool:
    steps = np.diff(days[~np.isnan(days)])
    return bool(np.all(steps >= 0) or np.all(steps <= 0))
