"""Whole groups, and rows with identical inputs, are trained on, calibrated on, or scored."""

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alloys import TARGETS, alloys
from vebnn.tabular.division import TableGroups, divide
from vebnn.tabular.errors import TableError
from vebnn.tabular.plan import plan_table


def repeats(num_conditions: int = 20, num_repeats: int = 4, seed: int = 0) -> pandas.DataFrame:
    """Return repeated measurements in random order, each with a name of its own."""
    rng = np.random.default_rng(seed)
    condition = rng.permutation(np.repeat(np.arange(num_conditions), num_repeats))
    x = rng.uniform(0, 10, num_conditions).round(2)
    names = [f"S-{number:03d}" for number in range(len(condition))]
    inputs = {"name": names, "x": x[condition], "steel": condition % 2 == 0}
    y = x[condition] ** 2 + rng.normal(0, 3, len(condition))
    return pandas.DataFrame(inputs | {"batch": condition // 2, "y": y.round()})


def assert_apart(plan, values) -> None:
    parts = [set(np.asarray(values)[rows]) for rows in plan.division if len(rows)]
    assert sum(map(len, parts)) == len(set().union(*parts))
    assert sorted(np.concatenate(plan.division)) == list(range(len(plan.table)))


@given(
    st.lists(st.integers(1, 9), min_size=4, max_size=40),
    st.floats(0, 0.6),
    st.booleans(),
    st.integers(0, 5),
)
def test_no_group_is_on_two_sides(sizes, hold_out, calibrated, seed):
    group = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    method = "common" if calibrated and len(group) > 150 else None
    parts = divide(TableGroups(group, "g", 0), hold_out, method, seed)
    assert sorted(np.concatenate(parts)) == list(range(len(group)))
    assert sum(len(set(group[rows])) for rows in parts) == len(sizes)
    assert len(parts.trained)
    assert abs(len(parts.held_out) - hold_out * len(group)) <= max(sizes) + 1
    assert (len(parts.held_out) > 0) == (hold_out > 0)


def test_single_rows_are_divided_as_ever():
    # The order of version 0.1.0: held-out rows first, then calibration rows.
    plan = plan_table(alloys(), TARGETS, calibrate="common", seed=3)
    order = np.random.default_rng(3).permutation(80)
    np.testing.assert_array_equal(plan.held_out, np.sort(order[:16]))
    np.testing.assert_array_equal(plan.calibrated, np.sort(order[16:29]))
    assert not any("stay together" in notice for notice in plan.notices)


def test_identical_inputs_stay_together_whatever_their_names():
    frame = repeats()
    plan = plan_table(frame, ["y"], drop=["batch"], calibrate="common")
    assert_apart(plan, frame["x"])
    assert len(plan.held_out) == 16
    assert "80 rows have the inputs of another row; identical inputs stay together." in plan.notices


def test_groups_stay_together_and_are_no_input():
    frame = repeats()
    plan = plan_table(frame, ["y"], group="batch")
    assert_apart(plan, frame["batch"])
    assert [column.name for column in plan.encoder.columns] == ["x", "steel"]
    assert plan.encoder.ignored == ("batch",)
    assert "batch: names 10 groups that stay together; is no input." in plan.notices
    for more in ({"group_as_input": True}, {"categorical": ["batch"]}):
        plan = plan_table(frame, ["y"], group="batch", **more)
        assert "batch" in [column.name for column in plan.encoder.columns]
        assert "batch: names 10 groups that stay together; is also an input." in plan.notices
        assert_apart(plan, frame["batch"])
    plan = plan_table(frame, ["y"], group="batch", drop=["batch"])
    assert plan.encoder.ignored == ("batch",)


def test_two_conditions_are_divided_row_by_row():
    frame = repeats(num_conditions=2, num_repeats=20)
    plan = plan_table(frame, ["y"], drop=["batch"])
    assert len(plan.held_out) == 8
    assert any("the score is of repeats" in notice for notice in plan.notices)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"group": "lot"}, r"There is no column 'lot' for group\. The columns are 'name'"),
        ({"group": "y"}, r"The column 'y' is a target, so it cannot be for group\."),
        ({"group": "gaps"}, r"The group 'gaps' is missing in 2 rows, first in row 4\. Fill it in"),
        ({"group": "half"}, r"The group 'half' must name at least 3 groups.* Got 2; choose another"),
        ({"group": "half", "calibrate": "common"}, r"must name at least 4 groups"),
        ({"group": "thirds", "calibrate": "common", "hold_out": 0}, None),
        ({"group": "one", "hold_out": 0}, r"must name at least 2 groups.* Got 1;"),
        (
            {"group": "few", "calibrate": "common"},
            r"'common' needs at least 10 rows .* Got 8 rows, because whole groups stay together",
        ),
    ],
)
def test_groups_that_cannot_be_used(changes, message):
    frame = repeats()
    frame["half"], frame["one"] = frame["batch"] % 2, "all"
    frame["thirds"] = frame["batch"] % 3
    frame["gaps"] = frame["name"].where(~frame.index.isin([3, 9]))
    # One group of nearly all rows; the rest are the batches 7, 8 and 9.
    frame["few"] = frame["batch"].clip(lower=6)
    plain = {"drop": ["half", "one", "thirds", "gaps", "few", "batch"]}
    if message is None:
        assert_apart(plan_table(frame, ["y"], **plain | changes), frame[changes["group"]])
        return
    with pytest.raises(TableError, match=message):
        plan_table(frame, ["y"], **plain | changes)


def test_growth_curves_are_held_out_by_animal_although_they_share_the_days() -> None:
    table = pandas.DataFrame(
        {
            "day": np.tile(np.arange(5), 8),
            "animal": np.repeat([f"a{n}" for n in range(8)], 5),
            "weight": np.random.default_rng(0).normal(size=40),
        }
    )
    plan = plan_table(table, ["weight"], group="animal", hold_out=0.25)
    animals = table["animal"].to_numpy()
    assert plan.groups.count == 8
    assert len(set(animals[plan.held_out])) == 2
    assert not set(animals[plan.held_out]) & set(animals[plan.trained])
    expected = "they join most groups of animal, so only the groups stay together"
    assert any(expected in notice for notice in plan.notices)
