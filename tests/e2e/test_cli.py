"""The real command line, in processes of its own."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import vebnn
from tests.support.commands import environment, one_sentence, run
from vebnn.bench.results import RESULTS_VERSION
from vebnn.cli import app


def test_demo_draws_the_figure_and_prints_the_table(tmp_path: Path) -> None:
    finished = run("demo", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    picture, drawing = tmp_path / "demo" / "vebnn-demo.png", tmp_path / "demo" / "vebnn-demo.svg"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert drawing.stat().st_size > 10_000
    for part in (
        "Step 1",
        "Step 2",
        "Step 3",
        "RMSE of the mean",
        "noise std",
        "Coverage",
        "Epistemic std inside",
        "Epistemic std outside",
        "vebnn-demo.png",
    ):
        assert part in finished.stdout


def test_bench_toy_resumes_where_it_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    first = run("bench", "toy", "--seeds", "1", "--out", str(path))
    assert first.returncode == 0, first.stderr
    whole = path.read_bytes()
    before = json.loads(whole)
    assert before["seed"] == 0
    assert before["results_version"] == RESULTS_VERSION
    # The run of the next seed was killed while it wrote its line.
    path.write_bytes(whole + whole[: len(whole) // 2])
    second = run("bench", "toy", "--seeds", "2", "--out", str(path))
    assert second.returncode == 0, second.stderr
    kept, added = (json.loads(line) for line in path.read_bytes().splitlines())
    assert kept == before
    assert added["seed"] == 1
    assert added["mean_rmse"] != before["mean_rmse"]
    # All is there: the third run computes nothing, else it would have added a row.
    complete = path.read_bytes()
    third = run("bench", "toy", "--seeds", "2", "--out", str(path))
    assert third.returncode == 0, third.stderr
    assert path.read_bytes() == complete
    assert "mean" in third.stdout
    assert "≤ 0.12" in third.stdout


def test_control_c_ends_with_a_sentence(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    # Where a shell started this test in the background, a child would not hear Ctrl-C otherwise.
    listen = "import signal as s; s.signal(s.SIGINT, s.default_int_handler)"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{listen}; from vebnn.cli import app; app()", "demo"],
        cwd=tmp_path,
        env=environment(VEBNN_COMPILATION_CACHE=str(cache)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # The first compiled program in its new cache says that the work has begun.
    deadline = time.monotonic() + 120
    while not (cache.exists() and any(cache.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint.startswith("vebnn: Interrupted.")
    assert "Traceback" not in complaint
    assert not any((tmp_path / "demo").iterdir())


def test_version() -> None:
    finished = run("--version")
    assert finished.returncode == 0
    assert finished.stdout == f"vebnn {vebnn.__version__}\n"


def test_help() -> None:
    finished = run("--help")
    assert finished.returncode == 0, finished.stderr
    for word in ("demo", "bench", "--version"):
        assert word in finished.stdout


@pytest.mark.parametrize("arguments", [("demo", "--colour"), ("bench", "uci")])
def test_what_the_user_can_mend_is_one_sentence(arguments: tuple[str, ...], tmp_path: Path) -> None:
    # Data that the user has downloaded must not be found.
    one_sentence(run(*arguments, XDG_CACHE_HOME=str(tmp_path)))


# A process takes seconds to start; the rest is said to the same function in this one.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("demo", "bench")),
        (("demo", "--help"), ("--out", "--seed")),
        (("bench",), ("toy", "sweep", "modes", "uci", "plasticity", "active")),
        (("bench", "modes", "--help"), ("--seeds", "--out", "--figures")),
        (("bench", "toy", "--help"), ("--seeds", "--out")),
        (("bench", "active", "--help"), ("--seeds", "--out")),
        (("bench", "uci", "--help"), ("--datasets", "--splits", "--out")),
    ],
)
def test_help_of_commands(call, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    finished = call(*arguments, NO_COLOR="1")
    assert finished.returncode == 0, finished.stderr
    for word in words:
        assert word in finished.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nonsense",), "nonsense"),
        (("demo", "--seed", "one"), "--seed"),
        (("demo", "--seed", "-1", "--out", "{folder}"), "at least 0"),
        (("demo", "--out", "{file}"), "exists"),
        (("bench", "toy", "--seeds", "0"), "at least 1"),
        (("bench", "toy", "--out", "{folder}"), "directory"),
        (("bench", "toy", "--out", "{file}"), "--out"),
        (("bench", "modes", "--seeds", "0"), "at least 1"),
        (("bench", "modes", "--figures", "{file}"), "exists"),
        (("bench", "active", "--seeds", "0"), "at least 1"),
        (("bench", "active", "--out", "{file}"), "--out"),
        (("bench", "uci", "--splits", "0"), "at least 1"),
        (("bench", "uci", "--datasets", ""), "at least one data set"),
        (("bench", "uci", "--datasets", "iris"), "'iris'"),
        (("bench", "uci"), "VEBNN_DATA is not set"),
    ],
)
def test_sentences(call, arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not ours\n")
    filled = [word.format(folder=tmp_path, file=file) for word in arguments]
    assert words in one_sentence(call(*filled))
    assert file.read_text() == "not ours\n"


def test_missing_data_says_where_to_put_the_file(call, tmp_path: Path) -> None:
    sentence = one_sentence(call("bench", "uci", "--datasets", "yacht", VEBNN_DATA=str(tmp_path)))
    assert str(tmp_path / "uci" / "yacht" / "data.txt") in sentence


def test_programming_errors_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["vebnn", "bench", "toy"])
    monkeypatch.setattr("vebnn.bench.experiments.toy.bench_toy", lambda *arguments: {}["missing"])
    with pytest.raises(KeyError, match="missing"):
        app()
