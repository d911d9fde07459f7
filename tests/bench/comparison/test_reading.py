import json
from pathlib import Path

import pytest

from tests.support.rows import STAMP, rows_of, skipped, write
from vebnn.bench.comparison.reading import read_results


def other_run(rows: list[dict], **stamp: object) -> list[dict]:
    return [{**row, **stamp} for row in rows]


QUICK = {"preset": "quick"}


def test_rows_by_method_data_set_and_split(tmp_path: Path) -> None:
    path = write(
        tmp_path / "rows.jsonl", rows_of("yacht", "a", [1.0, None]), rows_of("yacht", "b", [2.0])
    )
    found = read_results([path])
    assert found.scores("tll", "a", "yacht").to_dict() == {0: 1.0}
    assert found.scores("tll", "b", "yacht").to_dict() == {0: 2.0}
    assert found.scores("rmse", "b", "yacht").to_dict() == {}
    assert (found.experiment, found.notes) == ("uci", ())
    assert found.origin == "uci, preset standard, results version 1 (3 rows)"


def test_newest_run_is_the_one_written_last_and_it_is_said(tmp_path: Path) -> None:
    old = other_run(rows_of("yacht", "a", [1.0, 1.0]), settings=QUICK)
    path = write(tmp_path / "rows.jsonl", old, rows_of("yacht", "a", [2.0]))
    found = read_results([path])
    assert found.scores("tll", "a", "yacht").to_dict() == {0: 2.0}
    (note,) = found.notes
    assert "Left out: uci, preset quick, results version 1 (2 rows)" in note
    # A run that is taken up again is the newest.
    again = write(tmp_path / "again.jsonl", rows_of("yacht", "a", [2.0]), old[:1], old[1:])
    assert read_results([again]).scores("tll", "a", "yacht").to_dict() == {0: 1.0, 1: 1.0}


@pytest.mark.parametrize("stamp", [{"results_version": 2}, {"experiment": "mine"}])
def test_whatever_differs_in_the_stamp_is_not_mixed(stamp: dict, tmp_path: Path) -> None:
    path = write(
        tmp_path / "rows.jsonl",
        rows_of("yacht", "a", [1.0]),
        other_run(rows_of("yacht", "b", [1.0]), **stamp),
    )
    found = read_results([path])
    assert {row["method"] for row in found.rows} == {"b"}
    assert len(found.notes) == 1


def test_preset_is_chosen(tmp_path: Path) -> None:
    old = other_run(rows_of("yacht", "a", [1.0]), settings=QUICK)
    path = write(tmp_path / "rows.jsonl", old, rows_of("yacht", "a", [2.0]))
    found = read_results([path], preset="quick")
    assert found.scores("tll", "a", "yacht").to_dict() == {0: 1.0}
    assert found.notes == ()
    with pytest.raises(ValueError, match=r"preset 'paper'\. There are: quick, standard"):
        read_results([path], preset="paper")


def test_files_are_put_together_and_later_rows_replace_earlier(tmp_path: Path) -> None:
    first = write(tmp_path / "1.jsonl", rows_of("yacht", "a", [1.0, 2.0]))
    second = write(
        tmp_path / "2.jsonl", rows_of("yacht", "a", [3.0]), skipped("carbon", "a", "no file")
    )
    found = read_results([first, second])
    assert found.scores("tll", "a", "yacht").to_dict() == {0: 3.0, 1: 2.0}
    assert found.why_skipped("a", "carbon") == "no file"
    assert found.why_skipped("a", "yacht") is None


def test_rows_of_ones_own_need_no_stamp(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", [{"dataset": "mine", "method": "a", "split": 0, "rmse": 1}])
    found = read_results([path])
    assert found.scores("rmse", "a", "mine").to_dict() == {0: 1.0}
    assert (found.experiment, found.origin) == ("", "(1 row)")


def test_line_that_is_being_written_is_not_read(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", rows_of("yacht", "a", [1.0]))
    path.write_text(path.read_text() + '{"dataset": "ya')
    assert len(read_results([path]).rows) == 1


def test_only_some_methods_and_data_sets(tmp_path: Path) -> None:
    parts = [
        rows_of(name, method, [1.0]) for name in ("yacht", "boston") for method in ("a", "VeBNN (BBB)")
    ]
    path = write(tmp_path / "rows.jsonl", *parts)
    found = read_results([path], methods=["vebnn (bbb)"], datasets=["Boston"])
    assert [(row["dataset"], row["method"]) for row in found.rows] == [("boston", "VeBNN (BBB)")]
    with pytest.raises(ValueError, match=r"method 'c'\. There are: a, VeBNN \(BBB\)"):
        read_results([path], methods=["c"])


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("[1]", "Line 2 of .* is not a JSON object"),
        ("{", "Line 2 of .* is not a JSON object"),
        (json.dumps({**STAMP, "dataset": "yacht", "split": 0}), "name of a method. Got None"),
        (json.dumps({"method": "a", "dataset": 3}), "name of a dataset. Got 3"),
        (
            json.dumps({"method": "a", "dataset": "b", "split": "1"}),
            "whole number as its split. Got '1'",
        ),
        (
            json.dumps({"method": "a", "dataset": "b", "split": 1, "tll": "x"}),
            "finite number or null as tll",
        ),
        (
            '{"method": "a", "dataset": "b", "split": 1, "rmse": NaN}',
            "finite number or null as rmse. Got nan",
        ),
    ],
)
def test_bad_lines_are_named(line: str, complaint: str, tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", rows_of("yacht", "a", [1.0]))
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(ValueError, match=complaint):
        read_results([path])


def test_no_rows_are_said(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl")
    with pytest.raises(ValueError, match=r"no rows in .* vebnn bench uci"):
        read_results([path])
