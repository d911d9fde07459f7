"""Rows without targets, the order of time, measurement errors and weights in a plan."""

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.predictions import of_moments
from vebnn.prediction.targets import TARGETS
from vebnn.tabular.division import divide_by_time
from vebnn.tabular.errors import TableError
from vebnn.tabular.model import TableModel
from vebnn.tabular.plan import plan_table

NUM_ROWS = 60


def table(**columns) -> pandas.DataFrame:
    """Return rows in random order of their days."""
    rng = np.random.default_rng(0)
    days = pandas.Timestamp("2021-03-01") + pandas.to_timedelta(rng.permutation(NUM_ROWS), unit="D")
    x = rng.normal(size=NUM_ROWS)
    frame = {"day": days.strftime("%d/%m/%Y"), "x": x, "y": x + rng.normal(size=NUM_ROWS)}
    return pandas.DataFrame(frame | columns)


class Recorder:
    """An estimator that keeps what it is given, and predicts the mean."""

    target_kinds_ = (TARGETS["real"],)

    def __init__(self) -> None:
        self.given: dict = {}

    def fit(self, X, y, **arguments):
        self.given["fit"] = {"X": X, "y": y, **arguments}
        return self

    def check_calibration(self, name, method):
        assert (name, method) == ("calibrate", "common")

    def calibrate(self, X, y, method, **arguments):
        self.given["calibrate"] = {"X": X, "y": y, **arguments}
        return self

    def predict_distribution(self, X, **arguments):
        self.given["predict"] = {"X": X, **arguments}
        return of_moments(np.zeros(len(X)), np.ones(len(X)))


def test_rows_without_a_target_are_left_out() -> None:
    frame = table()
    frame.loc[[3, 5], "y"] = np.nan
    plan = plan_table(frame, ["y"])
    assert len(plan.table) == 58
    assert plan.missing_targets == (2,)
    assert plan.notices[0] == "2 rows without the target 'y' are left out."
    np.testing.assert_array_equal(plan.table.observed[:, 0], frame["y"].dropna())
    # Rows keep the numbers that they have in the file.
    frame.loc[7, "x"] = np.inf
    with pytest.raises(TableError, match="row 8 has inf"):
        plan_table(frame, ["y"])
    two = plan_table(table(z=[1.0, None, 2.0] * 20), ["y", "z"])
    assert two.notices[0] == "20 rows without all of the targets 'y', 'z' are left out."
    assert two.missing_targets == (0, 20)
    with pytest.raises(TableError, match=r"No row has a value of the target 'y'\."):
        plan_table(table(y=np.nan), ["y"])


def test_later_tables_may_lack_targets() -> None:
    frame = table()
    plan = plan_table(frame, ["y"])
    some = plan.encoder.encode(frame.assign(y=frame["y"].where(frame.index % 2 == 0)))
    known = some.with_targets()
    assert len(known) == 30
    assert known.notices[-1] == "30 rows without the target 'y' are left out."
    np.testing.assert_array_equal(known.frame.index, range(0, NUM_ROWS, 2))
    np.testing.assert_array_equal(known.matrix["x"], frame["x"][::2])
    assert plan.table.with_targets() is plan.table


def test_the_latest_rows_are_held_out() -> None:
    frame = table()
    plan = plan_table(frame, ["y"], time="day", calibrate="common", hold_out=0.1)
    order = np.argsort(pandas.to_datetime(frame["day"], format="%d/%m/%Y"))
    np.testing.assert_array_equal(plan.held_out, np.sort(order[-6:]))
    np.testing.assert_array_equal(plan.calibrated, np.sort(order[-17:-6]))
    np.testing.assert_array_equal(plan.trained, np.sort(order[:-17]))
    assert plan.notices[-1] == (
        "day: the latest 6 rows, from 2021-04-24 on, are held out; 11 rows before, from 2021-04-13 on, "
        "calibrate; the training ends with 2021-04-12."
    )
    numbers = plan_table(table(t=range(NUM_ROWS)), ["y"], time="t", drop=["day", "t"])
    np.testing.assert_array_equal(numbers.held_out, range(48, 60))
    assert (
        "t: the latest 12 rows, from 48 on, are held out; the training ends with 47." in numbers.notices
    )


@given(st.lists(st.integers(0, 12), min_size=5, max_size=60), st.floats(0.05, 0.6))
def test_no_training_row_is_as_late_as_a_held_out_row(times, hold_out) -> None:
    times = np.array([*times, 20, 21, 22], float)
    held_out, calibrated, trained = divide_by_time("t", times, hold_out, None)
    assert len(calibrated) == 0
    assert sorted([*held_out, *trained]) == list(range(len(times)))
    assert times[trained].max() < times[held_out].min()
    # The share is met as closely as equal times allow.
    moments = np.unique(times)[1:]
    best = min(abs(np.sum(times >= moment) - np.ceil(hold_out * len(times))) for moment in moments)
    assert abs(len(held_out) - np.ceil(hold_out * len(times))) == best


def test_errors_and_weights_reach_the_estimator() -> None:
    frame = table(error=np.linspace(0, 1, NUM_ROWS), count=range(NUM_ROWS))
    plan = plan_table(frame, ["y"], y_std=["error"], weight="count", calibrate="common")
    assert [column.name for column in plan.encoder.columns] == ["day", "x"]
    estimator = Recorder()
    model = TableModel.fit(estimator, plan)
    given = estimator.given
    np.testing.assert_array_equal(given["fit"]["y_std"][:, 0], frame["error"][plan.trained])
    np.testing.assert_array_equal(given["fit"]["sample_weight"], frame["count"][plan.trained])
    np.testing.assert_array_equal(given["calibrate"]["y_std"][:, 0], frame["error"][plan.calibrated])
    np.testing.assert_array_equal(given["predict"]["y_std"][:, 0], frame["error"][plan.held_out])
    assert (model.facts.y_std, model.facts.weight) == (("error",), "count")
    # The same rows are scored later with the same errors.
    model.evaluate(frame)
    np.testing.assert_array_equal(given["predict"]["X"]["x"], frame["x"][plan.held_out])
    np.testing.assert_array_equal(
        estimator.given["predict"]["y_std"][:, 0], frame["error"][plan.held_out]
    )
    model.evaluate(frame.drop(columns="error"))
    assert estimator.given["predict"]["y_std"] is None
    model.evaluate(frame.rename(columns={"error": "e"}), y_std=["e"])
    np.testing.assert_array_equal(
        estimator.given["predict"]["y_std"][:, 0], frame["error"][plan.held_out]
    )


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        (
            {"e": -1.0},
            {"y_std": ["e"]},
            r"The y_std 'e' must be a number of at least 0 .* row 1 has -1\.",
        ),
        ({"e": np.nan}, {"weight": "e"}, r"The weight 'e' must .* row 1 has no value\."),
        ({"e": 0.0}, {"weight": "e"}, r"The weight 'e' must not be zero in every row\."),
        ({"e": "a"}, {"weight": "e"}, r"must hold numbers, but row 1 has 'a'"),
        (
            {"e": 1.0, "f": 1.0},
            {"y_std": ["e", "f"]},
            r"one column for each of the 1 target, .* Got 2 col",
        ),
        ({}, {"y_std": ["y"]}, r"The column 'y' is a target, so it cannot be for y_std\."),
        ({}, {"time": "t"}, r"There is no column 't' for time\."),
        ({"t": "spring"}, {"time": "t"}, r"time 't' must hold dates or numbers\. Got 'spring'"),
        (
            {"y": [np.nan] * 55 + [1.0] * 5},
            {},
            r"at least 10 rows .* Got 5 rows with a value of every target, of 60\.",
        ),
        (
            {"t": [np.nan] * 2 + [1.0] * 58},
            {"time": "t"},
            r"The time 't' is missing in 2 rows, first in row 1",
        ),
        (
            {"t": [1, 2] * 30},
            {"time": "t"},
            r"The time 't' must have at least 3 different values.* Got 2;",
        ),
        ({"g": [1, 2, 3] * 20}, {"time": "day", "group": "g"}, r"divided by --group or by --time"),
        ({}, {"time": "day", "hold_out": 0}, r"--hold-out 0 holds out none"),
    ],
)
def test_columns_that_cannot_be_used(columns, options, words: str) -> None:
    with pytest.raises(TableError, match=words):
        plan_table(table(**columns), ["y"], **options)


def test_problems_of_all_kinds_are_told_at_once() -> None:
    frame = table(
        a=[np.inf] + [0.0] * 59,
        b=[-np.inf] + [0.0] * 59,
        e=-1.0,
        g=[None] + ["u", "v", "w"] * 19 + ["u", "v"],
    )
    frame["y"] = ["low", *frame["y"][1:]]
    with pytest.raises(TableError) as caught:
        plan_table(frame, ["y"], y_std=["e"], group="g")
    lines = str(caught.value).splitlines()
    assert lines[0] == "The table has 5 problems:"
    for word in ("'low'", "row 1 has inf", "row 1 has -inf", "'g' is missing", "'e' must be"):
        assert sum(word in line for line in lines) == 1
    assert lines[6:] == ["To leave these columns out: --drop a --drop b"]
