"""A model recognises the rows it has learned from, also where rows repeat."""

from types import SimpleNamespace

import numpy as np
import pandas
import pytest

from tests.tabular.test_division import repeats
from vebnn import MAP, MLP, Training, VeBNNRegressor
from vebnn.tabular.known_rows import KnownRows
from vebnn.tabular.model import TableModel
from vebnn.tabular.plan import plan_table

SHORT = Training(num_epochs=20)


def fit(frame: pandas.DataFrame, **changes) -> TableModel:
    brief = {"mean_training": SHORT, "variance_training": SHORT, "inference": MAP(training=SHORT)}
    estimator = VeBNNRegressor(MLP((4,)), **brief, num_folds=2, random_state=0)
    return TableModel.fit(estimator, plan_table(frame, ["y"], **changes))


def a_table(*rows: int) -> SimpleNamespace:
    numbers = np.array(rows, np.uint64)
    return SimpleNamespace(
        fingerprints=lambda: numbers,
        input_fingerprints=lambda: numbers // 10,
        settled=lambda found: found,
    )


def test_as_many_copies_are_new_as_were_held_out():
    known = KnownRows(np.array([11, 11, 22, 33], np.uint64), np.array([11, 44], np.uint64))
    seen = known.was_trained_on(a_table(11, 22, 11, 44, 33, 11, 55))
    np.testing.assert_array_equal(seen, [False, True, True, False, True, True, False])
    # Twice the same file: the copies of training rows are still not new.
    seen = known.was_trained_on(a_table(11, 22, 11, 44, 33, 11, 22, 11, 44, 33, 11, 11))
    assert seen.sum() == 9
    assert known.was_trained_on(a_table(11, 44)).sum() == 0


def test_models_without_held_out_rows_recognise_content():
    known = KnownRows(np.array([11, 22], np.uint64))
    np.testing.assert_array_equal(known.was_trained_on(a_table(11, 11, 33)), [True, True, False])
    assert not known.is_related(a_table(11), None).any()


@pytest.mark.parametrize("conditions", [20, 2])
def test_the_score_of_the_fit_is_that_of_the_evaluation(conditions, tmp_path):
    # Whole numbers as targets: many rows have an identical twin, with two conditions on both sides.
    frame = repeats(conditions, 80 // conditions).drop(columns=["batch", "name"])
    assert frame.duplicated().sum() > 5
    fit(frame).save(tmp_path / "model")
    model = TableModel.load(tmp_path / "model")
    found = model.evaluate(frame)
    assert found.fresh
    assert found.scored.sum() == model.facts.num_held_out
    assert found.scores[0].rmse == pytest.approx(model.facts.scores[0].rmse, rel=1e-12)
    twice = model.evaluate(pandas.concat([frame, frame]))
    assert twice.scores[0].rmse == pytest.approx(found.scores[0].rmse, rel=0.3)


def test_rows_related_to_the_training_are_recognised(tmp_path):
    frame = repeats()
    fit(frame, group="batch").save(tmp_path / "model")
    model = TableModel.load(tmp_path / "model")
    assert (model.facts.group, model.facts.num_groups) == ("batch", 10)
    held_out = plan_table(frame, ["y"], group="batch").held_out
    np.testing.assert_array_equal(np.flatnonzero(~model.evaluate(frame).related), held_out)
    new = frame.assign(y=frame["y"] + 1000)
    found = model.evaluate(new)
    assert found.scored.all()
    np.testing.assert_array_equal(np.flatnonzero(~found.related), held_out)
    # Other inputs of the same batches, and without the column.
    moved = new.assign(x=new["x"] + 0.001)
    np.testing.assert_array_equal(np.flatnonzero(~model.evaluate(moved).related), held_out)
    assert not model.evaluate(moved.drop(columns="batch")).related.any()
