import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

import vebnn
from vebnn.bench.results import ResultsFile, Row, average, run_cases, source_digest, stamp


class Worker:
    """Squares numbers, and remembers which."""

    def __init__(self, break_at: int | None = None) -> None:
        self.done: list[int] = []
        self.break_at = break_at

    def __call__(self, case: Row) -> Row:
        if case["seed"] == self.break_at:
            raise KeyboardInterrupt
        self.done.append(case["seed"])
        return {"square": case["seed"] ** 2}


@pytest.fixture
def file(tmp_path: Path) -> ResultsFile:
    return ResultsFile(tmp_path / "deep" / "rows.jsonl", stamp("squares", power=2))


def run(file: ResultsFile, num_seeds: int, worker: Worker) -> list[Row]:
    cases = [{"seed": seed} for seed in range(num_seeds)]
    return run_cases(file, cases, worker, Console(file=io.StringIO()), str)


def test_one_line_per_case_with_stamp_and_seconds(file: ResultsFile) -> None:
    rows = run(file, 3, Worker())
    assert [row["square"] for row in rows] == [0, 1, 4]
    lines = [json.loads(line) for line in file.path.read_text().splitlines()]
    assert lines == rows
    for line in lines:
        assert line["experiment"] == "squares"
        assert line["version"] == vebnn.__version__
        assert line["settings"] == {"power": 2}
        assert line["seconds"] >= 0


def test_finished_cases_are_not_run_again(file: ResultsFile) -> None:
    first, second = Worker(), Worker()
    run(file, 2, first)
    rows = run(file, 4, second)
    assert first.done == [0, 1]
    assert second.done == [2, 3]
    assert [row["seed"] for row in rows] == [0, 1, 2, 3]


def test_interrupted_run_keeps_what_was_finished(file: ResultsFile) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(file, 4, Worker(break_at=2))
    assert [row["seed"] for row in file.rows()] == [0, 1]
    again = Worker()
    run(file, 4, again)
    assert again.done == [2, 3]


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_half_written_line_is_computed_again(file: ResultsFile, cut: int) -> None:
    run(file, 3, Worker())
    whole = file.path.read_bytes()
    file.path.write_bytes(whole[:-cut])
    again = Worker()
    run(file, 3, again)
    assert again.done == [2]
    assert [json.loads(line)["seed"] for line in file.path.read_text().splitlines()] == [0, 1, 2]


@pytest.mark.parametrize(
    "change", [{"version": "0.0.0"}, {"source": "other"}, {"settings": {"power": 3}}]
)
def test_rows_of_other_versions_and_settings_are_kept_but_not_mixed(
    file: ResultsFile, change: Row
) -> None:
    other = ResultsFile(file.path, {**file.stamp, **change})
    run(other, 2, Worker())
    worker = Worker()
    run(file, 2, worker)
    assert worker.done == [0, 1]
    assert len(file.path.read_text().splitlines()) == 4
    assert len(file.rows()) == len(other.rows()) == 2


@pytest.mark.parametrize(
    ("change", "again"),
    [({"version": "0.0.0"}, [2]), ({"source": "other"}, [2]), ({"settings": {"power": 3}}, [0, 1, 2])],
)
def test_whoever_knows_what_changed_may_mix_versions_but_not_settings(
    file: ResultsFile, change: Row, again: list[int]
) -> None:
    run(ResultsFile(file.path, {**file.stamp, **change}), 2, Worker())
    worker = Worker()
    rows = run(replace(file, mix=True), 3, worker)
    assert worker.done == again
    assert [row["seed"] for row in rows] == [0, 1, 2]


def test_fewer_cases_than_rows(file: ResultsFile) -> None:
    run(file, 5, Worker())
    assert [row["seed"] for row in run(file, 2, Worker())] == [0, 1]


def test_foreign_file_is_refused(file: ResultsFile) -> None:
    file.path.parent.mkdir()
    file.path.write_text("a table\n")
    with pytest.raises(ValueError, match=r"Line 1 of .* is not a JSON object.*--out"):
        run(file, 1, Worker())
    assert file.path.read_text() == "a table\n"


def test_not_a_number_is_an_error_and_leaves_no_line(file: ResultsFile) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        run_cases(
            file, [{"seed": 0}], lambda case: {"square": float("nan")}, Console(file=io.StringIO()), str
        )
    assert file.rows() == []


def test_digest_is_that_of_this_code() -> None:
    assert source_digest() == source_digest()
    assert len(source_digest()) == 16


def test_figures_do_not_change_the_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vebnn, "__file__", str(tmp_path / "__init__.py"))
    for room in ("plots", "cli"):
        (tmp_path / room).mkdir()
    digests = []
    for name, content in (
        ("metrics.py", "one"),
        ("plots/steps.py", "a figure"),
        ("cli/bench.py", "a command"),
        ("metrics.py", "two"),
    ):
        (tmp_path / name).write_text(content)
        digests.append(source_digest.__wrapped__())
    assert digests[0] == digests[1] == digests[2] != digests[3]


def test_average() -> None:
    assert average([{"a": 1.0}, {"a": 4.0}], "a") == 2.5
