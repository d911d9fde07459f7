import numpy as np
import pandas
import pytest

from tests.support.springs import springs
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.errors import TableError
from vebnn.tabular.plan import TrainingPlan
from vebnn.tabular.sequences.encoder import SequenceColumns, SequenceEncoder
from vebnn.tabular.sequences.plan import plan_sequences

BY = SequenceColumns("test", "t")


def plan(frame: pandas.DataFrame | None = None, **options) -> TrainingPlan:
    frame = springs(20) if frame is None else frame
    return plan_sequences(frame, ["force"], options.pop("by", BY), **options)


def labels(found: TrainingPlan, rows: np.ndarray, column: str = "test") -> set[str]:
    return set(found.table.frame[column].iloc[rows])


def test_whole_sequences_are_held_out() -> None:
    found = plan()
    held_out, trained = labels(found, found.held_out), labels(found, found.trained)
    assert len(held_out) == 4  # a fifth of twenty
    assert held_out | trained == set(springs(20)["test"])
    assert not held_out & trained
    assert found.table.count_examples(found.trained) == len(trained)


def test_rows_without_a_target_are_history_and_not_scored() -> None:
    frame = springs(20)
    found = plan(frame)
    gaps = frame["force"].isna()
    assert list(found.table.frame.index) == list(np.flatnonzero(~gaps))
    assert np.isfinite(found.table.observed).all()
    inputs = found.table.take(found.trained).padded()
    lengths = frame.groupby("test").size()[sorted(labels(found, found.trained))]
    assert np.isfinite(inputs[..., 0]).sum() == lengths.sum()
    assert found.missing_targets == (int(gaps.sum()),)
    assert f"{gaps.sum()} rows without 'force': not scored, but a part of the history." in found.notices


def test_sequences_without_any_target_are_left_out() -> None:
    frame = springs(20, gaps=False)
    frame.loc[frame["test"].isin(["T03", "T11"]), "force"] = None
    found = plan(frame)
    assert labels(found, np.arange(len(found.table))) == set(frame["test"]) - {"T03", "T11"}
    assert "2 sequences without a target left out" in found.notices[0]


def test_columns_are_learned_from_training_sequences_alone() -> None:
    frame = springs(20)
    held_out = labels(first := plan(frame), first.held_out)
    frame.loc[frame["test"].isin(held_out), "load"] += 100
    encoder = plan(frame).encoder
    load = next(column for column in encoder.columns if column.name == "load")
    assert load.high < 50
    # As a table of the training rows would be.
    of_table, _ = TableEncoder.fit(frame[~frame["test"].isin(held_out)], ["force"], drop=["test", "t"])
    assert encoder.columns == of_table.columns


def test_step_is_an_input_if_that_is_asked_for() -> None:
    names = [column.name for column in plan(by=BY._replace(step_as_input=True)).encoder.columns]
    assert names == ["t", "metal", "load"]
    assert [column.name for column in plan().encoder.columns] == ["metal", "load"]


def test_groups_and_equal_inputs_stay_together() -> None:
    frame = springs(20, gaps=False)
    frame["batch"] = frame["test"].str[1:].astype(int) // 4
    found = plan(frame, group="batch")
    assert not labels(found, found.held_out, "batch") & labels(found, found.trained, "batch")
    assert found.groups.count == 5
    # T01 repeats T00 with other forces.
    twin = frame[frame["test"] == "T00"].assign(test="T01", force=lambda rows: rows["force"] + 1)
    frame = pandas.concat([frame[frame["test"] != "T01"], twin]).drop(columns="batch")
    for seed in range(8):
        found = plan(frame, seed=seed)
        assert len({"T00", "T01"} & labels(found, found.held_out)) != 1
    assert "2 sequences have the inputs of another sequence; identical inputs stay together." in (
        found.notices
    )


def test_encoder_is_described_as_json() -> None:
    encoder = plan().encoder
    assert SequenceEncoder.from_description(encoder.describe()) == encoder
    assert list(encoder.example_rows.columns) == ["test", "t", "metal", "load"]
    assert encoder.example_rows["test"].nunique() == 1


def test_fingerprints_tell_sequences_apart() -> None:
    found = plan()
    known = found.table.fingerprints()
    again = found.encoder.encode(springs(20).sample(frac=1, random_state=0)).with_targets()
    assert set(again.fingerprints()) == set(known)
    assert len(set(found.table.input_fingerprints())) == 20
    # Of most rows: a sequence may begin like another one.
    steps = found.table.matrix
    first = steps.place[steps.chosen] == 0
    assert not found.table.settled(first).any()
    assert found.table.settled(~first).all()


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({}, {"by": SequenceColumns("id", "t")}, "no column 'id' for sequence"),
        ({}, {"by": SequenceColumns("test", "time")}, "no column 'time' for step"),
        ({}, {"by": SequenceColumns("test", "test")}, "must be two columns"),
        ({"test": range}, {}, "is different in every row"),
        ({"test": lambda n: np.arange(n) // 20, "t": range}, {}, "at least 10 sequences"),
        ({"t": lambda n: np.zeros(n, int)}, {}, "both have '0'"),
        ({"g": lambda n: np.arange(n)}, {"group": "g"}, "must be the same in all rows of a sequence"),
        ({}, {"calibrate": "conformal"}, "sequences of equal length"),
        ({}, {"calibrate": "common"}, "needs at least 10 sequences of its own"),
        ({"force": lambda n: np.ones(n)}, {}, "is 1 in every row"),
    ],
)
def test_tables_that_cannot_be_used_are_explained(change: dict, options: dict, words: str) -> None:
    frame = springs(20)
    for name, values in change.items():
        frame[name] = list(values(len(frame)))
    with pytest.raises(TableError) as caught:
        plan(frame, **options)
    assert words in str(caught.value)
