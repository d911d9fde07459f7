"""The harness: honest splits, rows that survive, workers elsewhere."""

import io
import json
import os
import re
import signal
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import vebnn
from tests.support.commands import COMMAND, environment, run
from vebnn.bench.experiments import uci
from vebnn.bench.forecasts import Forecast
from vebnn.datasets.uci import UCI

ROOT = Path(vebnn.__file__).parents[2]
# The method of one's own that the documentation shows, and one that takes its time.
(DOCUMENTED,) = re.findall(
    r"^```python\n(.*?)^```$", (ROOT / "docs/benchmark.md").read_text(), re.MULTILINE | re.DOTALL
)
SLOW = """
import time

def slow_ridge(X, y, X_new, seed):
    time.sleep(0.3)
    return ridge(X, y, X_new, seed)._replace(notes={"seed": seed})
"""


def console() -> Console:
    return Console(file=io.StringIO(), width=200)


@pytest.fixture
def small_data(monkeypatch: pytest.MonkeyPatch) -> UCI:
    """A data set of fifty rows in place of any other."""
    X = np.arange(50.0)[:, None]
    data = UCI(X, X[:, 0] + 3 * np.random.default_rng(0).standard_normal(50), ("x",), ("y",))
    monkeypatch.setattr(uci, "load_uci", lambda name: data)
    return data


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with a module of one's own."""
    (tmp_path / "mine.py").write_text(DOCUMENTED + SLOW)
    return tmp_path


def test_score_is_that_of_rows_the_method_has_not_seen(
    small_data: UCI, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {}

    def method(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
        seen.update(train=X[:, 0], test=X_new[:, 0], seed=seed)
        return Forecast(X_new[:, 0], np.full(len(X_new), 9.0))

    monkeypatch.setattr(uci, "find_forecaster", lambda name, preset: (name, method))
    numbers = uci.score_split("standard", dataset="any", method="any", split=4)
    assert seen["seed"] == 4
    assert len(seen["test"]) == 10
    assert sorted([*seen["train"], *seen["test"]]) == list(range(50))
    test = seen["test"].astype(int)
    residual = small_data.y[test] - test
    assert numbers["rmse"] == pytest.approx(np.sqrt(np.mean(residual**2)))
    expected = -0.5 * np.log(2 * np.pi * 9) - 0.5 * np.mean(residual**2) / 9
    assert numbers["tll"] == pytest.approx(expected)
    assert numbers["coverage"] == pytest.approx(np.mean(np.abs(residual) <= 1.959964 * 3))
    assert numbers["interval_length"] == pytest.approx(2 * 1.959964 * 3)
    assert numbers["winkler"] >= numbers["interval_length"]
    assert 0 < numbers["crps"] < np.abs(residual).mean()


def test_every_case_once_and_neighbours_are_different_programs(
    small_data: UCI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict] = []

    def note(function, cases, **settings):
        asked.extend(cases)
        assert settings == {"backend": "local", "jobs": 2, "scheduler": None}
        return ((case, {"tll": 0.0}) for case in cases)

    monkeypatch.setattr(uci, "spread", note)
    methods = ["NGBoost", "gp", "ME (MSE)", "GP"]
    rows = uci.bench_uci(["a", "b"], 3, tmp_path / "rows", console(), methods=methods, jobs=2)
    triples = [(case["dataset"], case["method"], case["split"]) for case in asked]
    assert len(triples) == len(set(triples)) == 2 * 3 * 3
    assert all(one[:2] != next_one[:2] for one, next_one in pairwise(triples))
    assert [row["split"] for row in rows] == [case["split"] for case in asked]


@pytest.mark.parametrize("group", ["baselines", "Peers"])
def test_a_group_of_methods(
    group: str, small_data: UCI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci, "spread", lambda function, cases, **_: ((case, {}) for case in cases))
    rows = uci.bench_uci(["a"], 1, tmp_path / "rows", console(), methods=["paper", group])
    names = [row["method"] for row in rows]
    assert len(names) == 16
    assert {"VeBNN (BBB)", "MVE (pSGLD)", "Evidential", "NGBoost", "Quantile boosting"} <= set(names)


def test_a_missing_file_is_said_in_the_rows_and_the_others_go_on(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(name: str) -> UCI:
        if name == "superconduct":
            raise FileNotFoundError("Put the file there.")
        return UCI(np.ones((50, 1)), np.ones(50), ("x",), ("y",))

    monkeypatch.setattr(uci, "load_uci", load)
    monkeypatch.setattr(uci, "spread", lambda function, cases, **_: ((case, {}) for case in cases))
    shown = console()
    for _ in range(2):
        rows = uci.bench_uci(
            ["superconduct", "yacht"], 1, own / "rows", shown, methods=["GP", "NGBoost"]
        )
        assert [row["dataset"] for row in rows] == ["yacht", "yacht"]
    written = [json.loads(line) for line in (own / "rows").read_text().splitlines()]
    skipped = [(row["dataset"], row["method"], row["skipped"]) for row in written if "skipped" in row]
    assert skipped == [
        ("superconduct", "GP", "Put the file there."),
        ("superconduct", "NGBoost", "Put the file there."),
    ]
    assert "superconduct is skipped. Put the file there." in shown.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"num_splits": 0}, "The `splits` must be a whole number of at least 1. Got 0."),
        ({"preset": "fast"}, "The `preset` must be one of .* Got 'fast'."),
        ({"methods": []}, "at least one data set and one method. Got 1 and 0."),
        (
            {"methods": ["XGBoost"]},
            "no method 'XGBoost'.*Baselines: NGBoost, CatBoost.*file.py:function",
        ),
        (
            {"methods": ["nowhere:nothing"]},
            "'nowhere:nothing' must be file.py:function, or an importable",
        ),
    ],
)
def test_bad_arguments(changes: dict, sentence: str, small_data: UCI, tmp_path: Path) -> None:
    usual = {"datasets": ["yacht"], "num_splits": 1, "methods": ["GP"]}
    with pytest.raises(ValueError, match=sentence):
        uci.bench_uci(path=tmp_path / "rows", console=console(), **(usual | changes))
    assert not (tmp_path / "rows").exists()


def rows_of(path: Path) -> list[dict]:
    """Return rows in a fixed order, without what differs between two runs of the same command."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        del row["seconds"]
    return sorted(rows, key=lambda row: (row["dataset"], row["method"], row["split"]))


def bench(folder: Path, out: str, *more: str) -> tuple[str, ...]:
    settings = ("--methods", "mine:slow_ridge,mine:ridge", "--splits", "6", "--jobs", "2", *more)
    return ("bench", "uci", "--datasets", "yacht", "--out", out, *settings)


@pytest.fixture(scope="module")
def data_folder() -> str:
    folder = os.environ.get("VEBNN_DATA", "")
    if not Path(folder, "uci", "yacht").exists():
        pytest.skip("VEBNN_DATA has no yacht")
    return folder


def test_a_method_of_ones_own_takes_twenty_lines_at_most(own: Path, data_folder: str) -> None:
    assert len(DOCUMENTED.splitlines()) <= 20
    for dataset in ("yacht", "energy"):
        command = ("bench", "uci", "--methods", "mine:ridge", "--jobs", "1", "--splits", "1")
        done = run(*command, "--datasets", dataset, cwd=own, VEBNN_DATA=data_folder)
        assert done.returncode == 0, done.stderr
        assert "mine:ridge" in done.stdout
    yacht, energy = (json.loads(line) for line in (own / "results/uci.jsonl").read_text().splitlines())
    assert (yacht["dataset"], energy["dataset"]) == ("yacht", "energy")
    # The scores that a linear model has there.
    assert 7 < yacht["rmse"] < 11
    assert 2 < energy["rmse"] < 4
    assert 0.8 < energy["coverage"] < 1


def test_killed_and_resumed_it_ends_with_the_same_rows(own: Path, data_folder: str) -> None:
    killed = subprocess.Popen(
        [*COMMAND, *bench(own, "killed.jsonl")],
        cwd=own,
        env=environment(VEBNN_DATA=data_folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    path = own / "killed.jsonl"
    deadline = time.monotonic() + 120
    while not (path.exists() and path.read_bytes().count(b"\n") >= 2) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert 2 <= path.read_bytes().count(b"\n") < 12
    resumed = run(*bench(own, "killed.jsonl"), cwd=own, VEBNN_DATA=data_folder)
    assert resumed.returncode == 0, resumed.stderr
    whole = run(*bench(own, "whole.jsonl", "--backend", "dask"), cwd=own, VEBNN_DATA=data_folder)
    assert whole.returncode == 0, whole.stderr
    rows = rows_of(own / "whole.jsonl")
    assert rows_of(path) == rows
    assert [row["split"] for row in rows] == [*range(6), *range(6)]
    assert [row["seed"] for row in rows[6:]] == [*range(6)]
    assert rows[-1]["versions"].keys() == {"python", "vebnn", "jax", "numpy", "scikit-learn"}
    # Both print the same tables: means, and the rank of each.
    tables = [output.stdout.rpartition("Rows:")[0] for output in (resumed, whole)]
    assert tables[0].partition("TLL")[2] == tables[1].partition("TLL")[2]
    assert "mine:ridge" in tables[0]
