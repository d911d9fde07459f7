"""Dates become a trend and parts of the calendar, compared with those of pandas."""

import json

import numpy as np
import pandas
import pytest

from vebnn.tabular.date_column import WEEKDAYS, Calendar
from vebnn.tabular.encoder import TableEncoder

TIMES = pandas.date_range("2019-11-20 00:00", periods=300, freq="53h")


def learn(dates) -> TableEncoder:
    frame = pandas.DataFrame({"d": dates, "y": np.arange(len(dates))})
    return TableEncoder.fit(frame, ["y"])[0]


def test_the_calendar_is_that_of_pandas() -> None:
    times = pandas.date_range("1899-12-30 03:30", "2101-01-02", periods=5_000).round("min")
    days = (times - pandas.Timestamp(0)) / pandas.Timedelta(days=1)
    calendar = Calendar.of(np.asarray(days))
    np.testing.assert_array_equal(calendar.year, times.year)
    fraction = (times.day - 1 + calendar.hour / 24) / times.days_in_month
    np.testing.assert_allclose(calendar.month, times.month - 1 + fraction, atol=1e-6)
    np.testing.assert_array_equal(calendar.day, times.day - 1)
    np.testing.assert_array_equal(calendar.weekday, times.dayofweek)
    np.testing.assert_allclose(calendar.hour, times.hour + times.minute / 60, atol=1e-6)


def test_every_part_is_encoded() -> None:
    matrix = learn(TIMES).encode(pandas.DataFrame({"d": TIMES})).matrix
    assert np.ptp(matrix["d (trend)"]) == pytest.approx(299 * 53 / 24)
    np.testing.assert_array_equal(matrix["d (year)"], TIMES.year)
    hour = np.arctan2(matrix["d (hour, sine)"], matrix["d (hour, cosine)"]) * 24 / (2 * np.pi) % 24
    np.testing.assert_allclose(hour, TIMES.hour, atol=1e-6)
    month = np.arctan2(matrix["d (month, sine)"], matrix["d (month, cosine)"]) * 12 / (2 * np.pi) % 12
    np.testing.assert_array_equal(np.floor(month + 1e-9), TIMES.month - 1)
    weekdays = matrix[[f"d ({name})" for name in WEEKDAYS]].to_numpy()
    np.testing.assert_array_equal(weekdays, np.eye(7)[TIMES.dayofweek])


def test_the_end_of_a_year_is_next_to_its_beginning() -> None:
    new = pandas.DataFrame({"d": ["2020-12-31 23:59", "2021-01-01 00:00"]})
    matrix = learn(TIMES).encode(new).matrix
    cyclic = [name for name in matrix if "sine" in name]
    assert len(cyclic) == 4
    np.testing.assert_allclose(*matrix[cyclic].to_numpy(), atol=0.005)


@pytest.mark.parametrize(
    ("dates", "parts"),
    [
        (pandas.date_range("2020-01-01", periods=40, freq="YS"), ("trend",)),
        (pandas.date_range("2020-01-01", periods=40, freq="MS"), ("trend", "year", "month")),
        (pandas.date_range("2020-03-01", periods=20), ("trend", "weekday")),
        (pandas.date_range("2020-01-01", periods=90), ("trend", "month", "weekday")),
        (pandas.date_range("2020-01-01 07:00", periods=12, freq="h"), ("trend", "hour")),
        (pandas.date_range("2020-01-06 09:00", periods=20, freq="7D"), ("trend", "month")),
    ],
)
def test_parts_that_do_not_vary_are_left_out(dates, parts) -> None:
    (column,) = learn(dates).columns
    assert column.parts == parts
    assert column.summary.endswith("; " + ", ".join(parts))


def test_dates_are_read_as_the_whole_column_was() -> None:
    frame = pandas.DataFrame({"d": ["03/04/2020", "24/12/2020"] * 10, "y": np.arange(20)})
    encoder, notices = TableEncoder.fit(frame, ["y"])
    assert notices == ("d: dates, read as day/month/year; they become trend, month, weekday.",)
    # The training rows alone would leave it open.
    again, notices = TableEncoder.fit(frame.iloc[[0] * 10 + [1]], ["y"], forms=encoder.forms)
    assert again.columns[0].written(again.columns[0].low) == "2020-04-03"
    _, (open_order,) = TableEncoder.fit(frame.replace("24/12/2020", "03/05/2020"), ["y"])
    assert "Day and month could be swapped; to be sure, write dates as in 2024-05-17." in open_order


def test_gaps_and_dates_out_of_range() -> None:
    dates = [*(f"2020-01-{n + 1:02d}" for n in range(31)), None, None]
    frame = pandas.DataFrame({"d": dates, "y": np.arange(33)})
    encoder, notices = TableEncoder.fit(frame, ["y"])
    assert "d: 2 missing values replaced by the median, 2020-01-16, and marked" in notices[1]
    (column,) = encoder.columns
    assert column.typical == "2020-01-16"
    encoded = encoder.encode(pandas.DataFrame({"d": ["2021-05-01", None]}))
    np.testing.assert_array_equal(encoded.matrix["d is missing"], [0, 1])
    assert encoded.matrix["d (trend)"][1] == column.median
    assert encoded.notices == (
        "d: 1 missing value replaced by the median, 2020-01-16.",
        "d: 1 date outside the training range, 2020-01-01 to 2020-01-31.",
    )
    weekdays = learn(pandas.bdate_range("2020-01-01", periods=40))
    said = weekdays.encode(pandas.DataFrame({"d": ["2020-02-01"]})).notices
    assert said == ("d: 1 date on a weekday that was never seen in training.",)


def test_one_date_is_left_out() -> None:
    frame = pandas.DataFrame({"d": ["2020-01-01"] * 9, "x": range(9), "y": range(9)})
    encoder, (notice, *_) = TableEncoder.fit(frame, ["y"])
    assert [column.name for column in encoder.columns] == ["x"]
    assert notice == "d: left out, because it is 2020-01-01 in every row."
    declared, _ = TableEncoder.fit(
        frame.assign(d=["2020-01-01", "b", "c"] * 3), ["y"], categorical=["d"]
    )
    assert declared.columns[0].kind == "category"


def test_columns_of_dates_survive_json() -> None:
    encoder = learn(TIMES)
    description = json.loads(json.dumps(encoder.describe()))
    assert TableEncoder.from_description(description) == encoder
    description["columns"][0]["order"] = "year/day"
    with pytest.raises(LookupError):
        TableEncoder.from_description(description)
