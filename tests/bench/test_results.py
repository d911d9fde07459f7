import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

import vebnn
from vebnn.bench.results import RESULTS_VERSION, ResultsFile, Row, run_cases, stamp


class Worker:
    """Squares numbers, and remembers which."""

    def __init__(self, break_at: int | None = None) -> None:
        self.done: list[int] = []
        self.break_at = break_at

    def __call__(self, seed: int) -> Row:
        if seed == self.break_at:
            raise KeyboardInterrupt
        self.done.append(seed)
        return {"square": seed**2}


@pytest.fixture
def file(tmp_path: Path) -> ResultsFile:
    return ResultsFile(tmp_path / "deep" / "rows.jsonl", stamp("squares", power=2))


def run(file: ResultsFile, num_seeds: int, worker: Worker) -> list[Row]:
    cases = [{"seed": seed} for seed in range(num_seeds)]
    return run_cases(file, cases, worker, Console(file=io.StringIO()))


def test_one_line_per_case_with_stamp_and_seconds(file: ResultsFile) -> None:
    rows = run(file, 3, Worker())
    assert [row["square"] for row in rows] == [0, 1, 4]
    lines = [json.loads(line) for line in file.path.read_text().splitlines()]
    assert lines == rows
    for line in lines:
        assert line["experiment"] == "squares"
        assert line["results_version"] == RESULTS_VERSION
        assert line["versions"]["vebnn"] == vebnn.__version__
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


@pytest.mark.parametrize("change", [{"results_version": 0}, {"settings": {"power": 3}}])
def test_rows_of_other_versions_and_settings_stay_and_are_not_used(
    file: ResultsFile, change: Row
) -> None:
    other = ResultsFile(file.path, {**file.stamp, **change})
    run(other, 2, Worker())
    worker = Worker()
    run(file, 2, worker)
    assert worker.done == [0, 1]
    assert len(file.path.read_text().splitlines()) == 4
    assert len(file.rows()) == len(other.rows()) == 2


def test_rows_of_an_older_vebnn_get_a_sentence(file: ResultsFile) -> None:
    old = {"experiment": "squares", "version": "0.1.0", "source": "0123", "settings": {"power": 2}}
    file.path.parent.mkdir()
    file.path.write_text(json.dumps({**old, "seed": 0, "square": 0}) + "\n")
    with pytest.raises(ValueError, match=r"Replace its `version` and `source` by .*--out"):
        run(file, 1, Worker())
    # The command that docs/benchmark.md gives.
    convert = ("sed", "-i", "-E", r's/"version": "[^"]*", "source": "[^"]*"/"results_version": 1/')
    subprocess.run([*convert, file.path], check=True)
    worker = Worker()
    run(file, 2, worker)
    assert worker.done == [1]


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
            file, [{"seed": 0}], lambda seed: {"square": float("nan")}, Console(file=io.StringIO())
        )
    assert file.rows() == []


def test_two_writers_lose_no_rows(file: ResultsFile) -> None:
    append = (
        "import sys; from pathlib import Path; from vebnn.bench.results import ResultsFile\n"
        "file = ResultsFile(Path(sys.argv[1]), {'writer': sys.argv[2]})\n"
        "for seed in range(150): file.append({'seed': seed, 'long': 'x' * 5_000})\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", append, file.path, name]) for name in ("one", "two")
    ]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    rows = [json.loads(line) for line in file.path.read_text().splitlines()]
    assert sorted((row["writer"], row["seed"]) for row in rows) == [
        (name, seed) for name in ("one", "two") for seed in range(150)
    ]


def test_a_full_disk_names_the_file(file: ResultsFile, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("vebnn.bench.results.os.fsync", full)
    with pytest.raises(OSError, match="No space") as caught:
        file.append({"seed": 0})
    assert caught.value.filename == str(file.path)
