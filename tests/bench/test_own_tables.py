"""Tables of the user's own: which data sets a command names, and how their rows are held out."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from vebnn.bench.own_tables import own_tables
from vebnn.tabular.errors import TableError

ROWS = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files that share some columns."""
    rng = np.random.default_rng(0)
    columns = {
        "x": rng.normal(size=ROWS),
        "day": np.repeat(np.arange(ROWS // 2), 2),
        "who": np.repeat([f"animal {n}" for n in range(ROWS // 3)], 3),
        "y": rng.normal(size=ROWS),
        "z": rng.exponential(size=ROWS),
    }
    table = pandas.DataFrame(columns)
    table.loc[3, "y"] = np.nan
    table.to_csv(tmp_path / "a.csv", index=False)
    table.drop(columns=["day", "who"]).to_csv(tmp_path / "b.csv", index=False)
    return tmp_path


def test_targets_of_one_file_and_one_target_of_several_files(folder: Path) -> None:
    a, b = folder / "a.csv", folder / "b.csv"
    tables = own_tables([a], ["y", "z"], target_kinds=["real", "positive"], drop=["day"])
    assert [table.name for table in tables] == ["a: y", "a: z"]
    assert [table.target_kind for table in tables] == ["real", "positive"]
    # No target is an input, and the file b has no day.
    assert [table.drop for table in tables] == [("day", "z"), ("day", "y")]
    assert [table.name for table in own_tables([a, b], ["z"])] == ["a: z", "b: z"]
    assert [table.drop for table in own_tables([a, b], ["z"], drop=["day"])] == [("day",), ()]
    assert [table.name for table in own_tables([a, b], ["y", "z"])] == ["a: y", "b: z"]


def test_rows_are_held_out_at_random_and_in_groups(folder: Path) -> None:
    (at_random,) = own_tables([folder / "a.csv"], ["y"], num_splits=3)
    held_out = [at_random.plan(split).held_out for split in range(3)]
    assert {len(rows) for rows in held_out} == {12}  # a fifth of the 59 rows with the target
    assert not np.array_equal(held_out[0], held_out[1])
    (grouped,) = own_tables([folder / "a.csv"], ["y"], group="who")
    plan = grouped.plan(0)
    who = plan.table.frame["who"].to_numpy()
    assert not set(who[plan.trained]) & set(who[plan.held_out])
    assert "who" not in plan.table.matrix


def test_time_blocks_follow_each_other_and_are_predicted_from_the_past(folder: Path) -> None:
    (table,) = own_tables([folder / "a.csv"], ["z"], time="day", hold_out=0.3, num_splits=3)
    tested: list[int] = []
    for split in range(3):
        plan = table.plan(split)
        day = plan.table.frame["day"].to_numpy()
        assert day[plan.trained].max() < day[plan.held_out].min()
        tested += day[plan.held_out].tolist()
    # The latest 18 of 60 rows, each once and in order; two rows share a day.
    assert tested == sorted(tested) == np.repeat(np.arange(21, 30), 2).tolist()


def test_the_fingerprint_tells_other_data_and_other_settings(folder: Path) -> None:
    def fingerprint(**options: Any) -> str:
        (table,) = own_tables([folder / "a.csv"], ["z"], **options)
        return table.fingerprint

    first = fingerprint()
    assert first == fingerprint(num_splits=7)
    others = [{"target_kinds": ["positive"]}, {"hold_out": 0.3}, {"group": "who"}, {"drop": ["x"]}]
    by_time = [{"time": "day", "num_splits": number} for number in (1, 2)]
    with (folder / "a.csv").open("a") as file:
        file.write("0,1,animal 1,2,3\n")
    found = [first, fingerprint(), *(fingerprint(**one) for one in (*others, *by_time))]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"targets": []}, "at least one --data FILE and one --target COLUMN"),
        (
            {"targets": ["y", "z", "x"]},
            "one --target for each --data, or one for all. Got 2 files and 3",
        ),
        ({"target_kinds": ["real"] * 3}, "one --target-kind for all data sets.*each of the 2. Got 3"),
        ({"group": "nobody", "drop": ["x", "v"]}, "No file has the column 'v', 'nobody'"),
        ({"files": ["a.csv", "a.csv"]}, "Two data sets would have the name 'a: z'"),
        ({"files": ["a.csv"], "group": "who", "time": "day"}, "by --group or by --time"),
    ],
)
def test_contradictions(changes: dict, sentence: str, folder: Path) -> None:
    usual = {"files": ["a.csv", "b.csv"], "targets": ["z"]} | changes
    files = [folder / name for name in usual.pop("files")]
    with pytest.raises(TableError, match=sentence):
        own_tables(files, **usual)


def test_times_that_cannot_be_cut(folder: Path) -> None:
    (table,) = own_tables([folder / "a.csv"], ["z"], time="day", hold_out=0.05, num_splits=3)
    with pytest.raises(TableError, match="latest 5% of the rows by 'day' cannot be cut into 3 blocks"):
        table.plan(0)


def test_messages_count_the_rows_of_the_file(folder: Path) -> None:
    rows = pandas.read_csv(folder / "a.csv")
    rows["y"] = rows["y"].abs().where(rows.index != 9, -1.0)
    rows.to_csv(folder / "a.csv", index=False)
    (table,) = own_tables([folder / "a.csv"], ["y"], target_kinds=["positive"])
    with pytest.raises(TableError, match="Got -1 in row 10, 1 such row in all"):  # row 4 has no target
        table.plan(0)
