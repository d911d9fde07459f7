"""Dates are read in one order for the whole column, however they are written."""

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vebnn.tabular.dates import find_form, to_days, written
from vebnn.tabular.errors import TableError
from vebnn.tabular.values import to_labels


def read(cells) -> tuple[str, bool, list[str]]:
    series = pandas.Series(cells, name="d")
    form = find_form(series, to_labels(series))
    return *form, [written(day, time=True) for day in to_days(series, form.order)]


@pytest.mark.parametrize(
    ("cells", "order", "sure", "first"),
    [
        (["2024-05-17", "2024-5-8"], "year/month/day", True, "2024-05-17 00:00"),
        (["2012/01/01", "2012/01/02"], "year/month/day", True, "2012-01-01 00:00"),
        (["2020-01-01T10:00:00.5Z", "2020-01-01"], "year/month/day", True, "2020-01-01 10:00"),
        (["2020-06-01 10:15:20+02:00"], "year/month/day", True, "2020-06-01 10:15:20"),
        (["2020-07", "2020-08"], "year/month/day", True, "2020-07-01 00:00"),
        (["03/04/2020", "31/12/2020"], "day/month/year", True, "2020-04-03 00:00"),
        (["03/04/2020", "12/31/2020"], "month/day/year", True, "2020-03-04 00:00"),
        (["12/31/20 3:05 PM", "1/2/21 12:10 am"], "month/day/year", True, "2020-12-31 15:05"),
        (["17.05.24 08:30", "18.05.24"], "day/month/year", True, "2024-05-17 08:30"),
        (["Jan 3 2021", "January 5, 2021"], "month/day/year", True, "2021-01-03 00:00"),
        (["3-Jan-21", "Sun, 4 Sept. 2021"], "day/month/year", True, "2021-01-03 00:00"),
        (["May 2020", "Jun 2020"], "month/year", True, "2020-05-01 00:00"),
        # Day and month are open: the order in which rows are sorted, else the separator decides.
        (["03/04/2020", "01/05/2020", "12/05/2020"], "day/month/year", False, "2020-04-03 00:00"),
        (["03/04/2020", "04/01/2020", "05/02/2020"], "month/day/year", False, "2020-03-04 00:00"),
        (["03/04/2020", "04/05/2020"], "month/day/year", False, "2020-03-04 00:00"),
        (["03.04.2020", "04.05.2020"], "day/month/year", False, "2020-04-03 00:00"),
        (["03.03.2020", "04.04.2020"], "day/month/year", True, "2020-03-03 00:00"),
    ],
)
def test_forms(cells, order: str, sure: bool, first: str) -> None:
    found = read(cells)
    assert found[:2] == (order, sure)
    assert found[2][0] == first


@pytest.mark.parametrize(
    "cells", [["1.2.10", "1.3.4"], ["12:30"], ["marble 5 2020"], ["2020-13-01"], ["6061"], ["", " "]]
)
def test_what_is_no_date(cells) -> None:
    series = pandas.Series(cells, name="d")
    assert find_form(series, to_labels(series)) is None


@pytest.mark.parametrize("cell", ["31/02/2020", "soon", "5", "01/01/2020 25:00", "01/01/2020 13:00 pm"])
def test_a_cell_that_is_no_date_is_named(cell: str) -> None:
    series = pandas.Series(["31/12/2020", cell], name="d")
    with pytest.raises(TableError, match=f"written as day/month/year.*row 2 has '{cell}'"):
        to_days(series, "day/month/year")


def test_iso_dates_are_read_in_every_column() -> None:
    # Pages and other programs write them.
    series = pandas.Series(["02/01/1970", "1970-01-02", None], name="d")
    np.testing.assert_array_equal(to_days(series, "day/month/year"), [1, 1, np.nan])


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_columns_that_are_dates_already(zone) -> None:
    times = pandas.Series(pandas.date_range("1970-01-02 06:00", periods=3, tz=zone))
    np.testing.assert_allclose(to_days(times, "year/month/day"), [1.25, 2.25, 3.25])
    periods = pandas.Series(pandas.period_range("1970-02", periods=2, freq="M"))
    np.testing.assert_array_equal(to_days(periods, "year/month/day"), [31, 59])


@settings(max_examples=30)
@given(st.datetimes(pandas.Timestamp(1700, 1, 1), pandas.Timestamp(2200, 1, 1)))
def test_what_is_written_is_read_again(moment) -> None:
    moment = moment.replace(microsecond=0)
    day = (pandas.Timestamp(moment) - pandas.Timestamp(0)) / pandas.Timedelta(days=1)
    text = written(day, time=True)
    assert text.startswith(moment.strftime("%Y-%m-%d %H:%M").rjust(16, "0"))
    (again,) = to_days(pandas.Series([text]), "year/month/day")
    assert again == pytest.approx(day, abs=1e-6)
