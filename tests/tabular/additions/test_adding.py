"""Adding rows to a model of a table whose estimator only counts."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas
import pytest
from sklearn.base import BaseEstimator

from tests.support.predictions import of_moments
from vebnn.cli.tables import print_json
from vebnn.estimators.target_kinds import kinds_of
from vebnn.prediction import Prediction
from vebnn.tabular.additions.adding import add_rows, find_new_rows, num_released
from vebnn.tabular.additions.history import History
from vebnn.tabular.additions.page import write_history
from vebnn.tabular.additions.points import OF_TRAINING_ROWS
from vebnn.tabular.errors import TableError
from vebnn.tabular.model import TableModel
from vebnn.tabular.plan import plan_table
from vebnn.tabular.space.reading import space_of


class Counting(BaseEstimator):
    """Predicts the mean of its targets; the epistemic variance is one over the number of rows."""

    def __init__(self, can_update: bool = True, verbose: int = 0) -> None:
        self.can_update, self.verbose = can_update, verbose
        self.target_kinds_ = kinds_of("real", 1)

    def fit(self, X: Any, y: Any, **others: Any) -> "Counting":
        return self._learn("fit", X, y, others)

    def update(self, X: Any, y: Any, **others: Any) -> "Counting":
        return self._learn("update", X, y, others)

    def _learn(self, how: str, X: Any, y: Any, others: dict[str, Any]) -> "Counting":
        self.how, self.X, self.y, self.others = how, np.asarray(X), np.asarray(y), others
        return self

    def check_calibration(self, name: str, method: str) -> None:
        pass

    def calibrate(self, X: Any, y: Any, method: str, *, y_std: Any = None) -> None:
        self.calibrated = (len(X), method)

    def predict_distribution(self, X: Any, *, y_std: Any = None) -> Prediction:
        mean = np.full(len(X), self.y.mean())
        return of_moments(mean, 1 / len(self.y), 1.0 if y_std is None else 1 + y_std[:, 0] ** 2)


def table(rows: int, seed: int = 0, low: float = 0) -> pandas.DataFrame:
    rng = np.random.default_rng(seed)
    return pandas.DataFrame(
        {
            "copper": rng.uniform(low, low + 5, rows),
            "alloy": rng.choice(["A", "B"], rows),
            "specimen": [f"{seed}-{row // 2}" for row in range(rows)],
            "error": rng.uniform(0.1, 0.2, rows),
            "weight": rng.integers(1, 4, rows),
            "y": rng.normal(size=rows),
        }
    )


PLAIN = {"drop": ["specimen", "error", "weight"]}


def model_of(frame: pandas.DataFrame, estimator: Any = None, **settings: Any) -> TableModel:
    plan = plan_table(frame, ["y"], source="first.csv", **(settings or PLAIN))
    return TableModel.fit(estimator or Counting(), plan)


def add(model: TableModel, frame: pandas.DataFrame, **settings: Any) -> TableModel:
    return add_rows(model, find_new_rows(model, frame), source="new.csv", **settings)


def history(model: TableModel) -> History:
    assert model.history is not None
    return model.history


def test_old_and_new_rows_are_trained_on() -> None:
    model, new = model_of(table(40)), table(10, seed=1)
    better = add(model, new)
    assert better.estimator.how == "update"
    trained = history(model).kept.division.trained
    np.testing.assert_array_equal(
        better.estimator.X[:32], model.encoder.encode(table(40)).matrix.iloc[trained]
    )
    np.testing.assert_array_equal(better.estimator.X[32:], model.encoder.encode(new).matrix)
    np.testing.assert_array_equal(better.estimator.y[32:], new["y"])
    facts = better.facts
    assert (facts.num_rows, facts.num_trained, facts.num_held_out) == (50, 42, 8)
    assert facts.source == f"{model.facts.source} and added files"  # these rows are not of one file
    assert add(better, table(10, seed=2)).facts.source == facts.source
    assert facts.targets[0].mean == pytest.approx(better.estimator.y.mean())
    # The old model stays as it was.
    assert (model.estimator.how, len(model.estimator.y), model.facts.num_rows) == ("fit", 32, 40)
    assert not history(model).additions


def test_new_rows_are_scored_before_they_are_learned() -> None:
    model, new = model_of(table(40)), table(10, seed=1)
    one = history(add(model, new)).additions[0]
    error = new["y"] - model.estimator.y.mean()
    assert one.new[0].rmse == pytest.approx(np.sqrt(np.mean(error**2)))
    held_out = history(model).kept.observed[history(model).kept.division.held_out, 0]
    for scores, estimator in ((one.held_out_before, model), (one.held_out_after, add(model, new))):
        error = held_out - estimator.estimator.y.mean()
        assert scores[0].rmse == pytest.approx(np.sqrt(np.mean(error**2)))
    assert one.ignorance_before[0].median == pytest.approx(1 / np.sqrt(32))
    assert one.ignorance_after[0].high == pytest.approx(1 / np.sqrt(42))
    assert (one.source, one.num_added, one.num_trained, one.points) == (
        "new.csv",
        10,
        42,
        OF_TRAINING_ROWS,
    )
    assert one.continued
    assert one.time.endswith("+00:00")


def test_rows_are_added_once() -> None:
    new = table(10, seed=1)
    better = add(model_of(table(40)), new)
    for known in (new, new[3:4], table(40)):
        found = find_new_rows(better, known)
        assert (len(found.rows), found.num_known) == (0, len(known))
    both = find_new_rows(better, pandas.concat([new, table(5, seed=2)]))
    assert (len(both.rows), both.num_known) == (5, 10)
    assert "10 rows left out: the model knows rows with these values" in both.notices[-1]
    repeats = find_new_rows(better, new, repeats=True)
    assert len(repeats.rows) == 10
    twice = add_rows(better, repeats)
    assert twice.facts.num_trained == 52
    assert [one.num_added for one in history(twice).additions] == [10, 10]


def test_a_model_adds_rows_by_itself() -> None:
    model, new = model_of(table(40)), table(10, seed=1)
    better = model.add(new, source="new.csv")
    assert history(better).additions[0].source == "new.csv"
    assert better.facts == add(model, new).facts
    assert better.add(new) is better
    assert better.add(new, repeats=True).facts.num_trained == 52


def test_held_out_rows_with_the_inputs_of_a_new_one_are_released() -> None:
    model = model_of(table(40))
    held_out = history(model).kept.division.held_out
    new = table(40).iloc[held_out[:3]].assign(y=[7.0, 8, 9])
    better = add(model, new)
    assert num_released(model, better) == 3
    assert (better.facts.num_trained, better.facts.num_held_out) == (32 + 3 + 3, 5)
    assert history(better).additions[0].held_out_before[0].num_rows == 5
    # The released rows are no longer new to the model.
    assert better.was_trained_on(table(40)).sum() == 35


def test_groups_weights_errors_and_calibration_go_on() -> None:
    settings = {"group": "specimen", "y_std": ["error"], "weight": "weight", "calibrate": "common"}
    model = model_of(table(120), **settings)
    new = table(10, seed=1)
    held_out = history(model).kept.division.held_out
    new.loc[:1, "specimen"] = table(120)["specimen"][held_out[0]]
    better = add(model, new)
    assert num_released(model, better) == 2  # the two rows of that specimen
    others = better.estimator.others
    assert len(set(others["groups"])) == len(others["groups"]) / 2 - 1
    np.testing.assert_array_equal(others["sample_weight"][-10:], new["weight"])
    np.testing.assert_array_equal(others["y_std"][-10:, 0], new["error"])
    assert better.estimator.calibrated == (model.facts.num_calibrated, "common")
    for name in ("specimen", "error", "weight"):
        with pytest.raises(TableError, match=name):
            find_new_rows(model, new.drop(columns=name))


def test_without_chains_all_is_fitted_again() -> None:
    model = model_of(table(40), Counting(can_update=False))
    better = add(model, table(10, seed=1))
    assert (better.estimator.how, len(better.estimator.y)) == ("fit", 42)
    assert not history(better).additions[0].continued
    assert len(model.estimator.y) == 32


def test_ranges_widen_and_the_encoding_stays() -> None:
    model, new = model_of(table(40)), table(10, seed=1, low=20)
    assert "10 values outside the training range" in find_new_rows(model, new).notices[0]
    better = add(model, new)
    copper = better.table_encoder.columns[0]
    assert copper.high == new["copper"].max()
    assert copper.median == model.table_encoder.columns[0].median
    assert not any("copper" in notice for notice in better.encode(new).notices)
    np.testing.assert_array_equal(better.encode(new).matrix, model.encode(new).matrix)


def test_points_stay_until_a_space_is_given() -> None:
    first = add(model_of(table(40)), table(10, seed=1, low=20))
    second = add(first, table(10, seed=2))
    np.testing.assert_array_equal(history(second).points, history(first).points)
    assert history(second).points[:, 0].max() < 5.01  # not the widened range
    document = {"columns": {"copper": {"range": [50, 60]}, "alloy": "A"}}
    space = space_of(document, second.table_encoder)
    third = add(second, table(10, seed=3), space=space, space_name="space.toml")
    assert history(third).points[:, 0].min() >= 50
    fourth = add(third, table(10, seed=4))
    places = [one.points for one in history(fourth).additions]
    assert places == [OF_TRAINING_ROWS] * 2 + ["space.toml"] * 2


def test_a_history_is_saved_as_it_is() -> None:
    better = history(add(model_of(table(40)), table(10, seed=1)))
    same = History.revive(better.describe(), better.arrays())
    assert same.additions == better.additions
    assert same.points_name == better.points_name
    for name, array in better.arrays().items():
        np.testing.assert_array_equal(same.arrays()[name], array)


def test_a_model_without_rows_says_so() -> None:
    plan = plan_table(table(40), ["y"], **PLAIN)
    model = TableModel.fit(Counting(), plan, keep_rows=False)
    with pytest.raises(TableError, match=r"keeps no rows.*Fit it again"):
        find_new_rows(model, table(10))


def test_impossible_rows_are_refused() -> None:
    model = model_of(table(40))
    with pytest.raises(TableError, match="lacks 'copper'"):
        find_new_rows(model, table(10).drop(columns="copper"))
    with pytest.raises(TableError, match="must hold numbers"):
        find_new_rows(model, table(10).assign(y="much"))
    some = table(10, seed=1)
    some.loc[3, "y"] = np.nan
    found = find_new_rows(model, some)
    assert len(found.rows) == 9
    assert any("left out" in notice for notice in found.notices)


def few_inputs(rows: int, seed: int) -> pandas.DataFrame:
    """Animals of two diets, all weighed on the same days."""
    animal, day = np.divmod(np.arange(rows), 5)
    noise = np.random.default_rng(seed).normal(size=rows)
    return pandas.DataFrame(
        {
            "day": 2.0 * day,
            "diet": np.where(animal % 2, "A", "B"),
            "animal": [f"{seed}-{one}" for one in animal],
            "y": day + noise,
        }
    )


def test_inputs_that_groups_share_release_none() -> None:
    """Another animal on the same day is no repeat of a held-out one."""
    model = model_of(few_inputs(200, seed=0), group="animal", calibrate="common")
    better = add(model, few_inputs(10, seed=1))
    assert num_released(model, better) == 0
    assert better.facts.num_held_out == model.facts.num_held_out > 0
    assert better.estimator.calibrated == (model.facts.num_calibrated, "common")
    again = few_inputs(200, seed=0).iloc[history(model).kept.division.held_out[:5]].assign(y=9.0)
    assert num_released(model, add(model, again)) == 5  # the same animal


def test_rows_that_leave_none_to_calibrate_on_are_refused_before_the_training() -> None:
    model = model_of(table(120), drop=["specimen", "error", "weight"], calibrate="common")
    calibrated = history(model).kept.division.calibrated
    new = table(120).iloc[calibrated[:-9]].assign(y=7.0)
    found = find_new_rows(model, new)
    with pytest.raises(
        TableError, match=r"at least 10 rows of its own. Only 9 of its 20 would be left"
    ):
        add_rows(model, found)
    assert model.estimator.how == "fit"
    assert add(model, new.iloc[1:]).estimator.calibrated == (10, "common")


def test_errors_that_overflow_are_missing_in_pages_and_json(tmp_path, capsys) -> None:
    """The mean of a positive target far from the training rows can be infinite."""
    better = history(add(model_of(table(40)), table(10, seed=1)))
    far = replace(better.additions[0], new=(better.additions[0].new[0]._replace(rmse=np.inf),))
    write_history(replace(better, additions=(far,)), tmp_path / "history.html", "m")
    assert (tmp_path / "history.html").read_text().rstrip().endswith("</html>")
    print_json(far.describe())
    assert json.loads(capsys.readouterr().out)["new"][0]["rmse"] is None
