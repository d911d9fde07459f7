"""From a file of rows to predictions, by the real command line."""

import errno
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import httpx
import numpy as np
import pandas
import pytest

from alloys import TARGETS, alloys
from tests.support.commands import environment, one_sentence, run
from vebnn import VeBNNRegressor
from vebnn.tabular.model import TableModel

ARGUMENTS = [word for name in TARGETS for word in ("--target", name)]


def test_help_fits_a_small_screen() -> None:
    finished = run("--help", COLUMNS="80")
    lines = finished.stdout.strip().splitlines()  # without the empty lines at both ends
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    for word in (
        "fit",
        "predict",
        "evaluate",
        "suggest",
        "report",
        "serve",
        "demo",
        "bench",
        "data",
        "130",
    ):
        assert word in finished.stdout


def test_fit_prints_columns_and_scores(alloys_fit) -> None:
    assert alloys_fit.stderr == ""
    for words in (
        "80 rows: 64 to train on, 16 held out",
        "sample: left out, because it is text with 64 different values",
        "machine: left out",
        "missing values replaced by the median",
        "Step 1",
        "Round 1 · Step 3",
        "On 16 rows it was not trained on",
        "RMSE",
        "coverage of 95 % intervals",
        "typical aleatoric std",
        "typical epistemic std",
        "R-hat",
        "What to do next",
        "vebnn predict alloys.model",
        "The model is in alloys.model",
    ):
        assert words in alloys_fit.stdout


def test_model_folder_holds_no_code(alloys_model: Path) -> None:
    names = {path.name for path in alloys_model.iterdir()}
    assert names == {
        *("model.json", "weights.safetensors", "table.json", "rows.safetensors"),
        *("history.json", "kept.safetensors"),
    }
    assert not alloys_model.with_name("alloys.model.checkpoint").exists()
    assert VeBNNRegressor.load(alloys_model).n_features_in_ == 8


def test_predict_writes_what_the_model_says(alloys_model: Path, tmp_path: Path) -> None:
    new = alloys(12, seed=1).drop(columns=[*TARGETS, "machine"])
    new.loc[0, "alloy"] = "2024"
    new.to_csv(tmp_path / "new.csv", index=False)
    finished = run(
        "predict", str(alloys_model), "new.csv", "--out", "p.parquet", "--level", "0.5", cwd=tmp_path
    )
    assert finished.returncode == 0, finished.stderr
    assert "alloy: 1 row with '2024', never seen in training" in finished.stderr
    table = pandas.read_parquet(tmp_path / "p.parquet")
    assert list(table["row"]) == list(range(1, 13))
    assert list(table["sample"]) == list(new["sample"])
    prediction = TableModel.load(alloys_model).predict(new).prediction
    for number, target in enumerate(TARGETS):
        np.testing.assert_allclose(table[f"{target}_mean"], prediction.mean[:, number])
        # Half of a Gaussian lies within 0.6745 standard deviations.
        reach = 0.6744897501960817 * np.hypot(
            table[f"{target}_aleatoric_std"], table[f"{target}_epistemic_std"]
        )
        np.testing.assert_allclose(table[f"{target}_upper"] - table[f"{target}_mean"], reach)


def test_json_is_the_only_output(call, alloys_model: Path, alloys_csv: Path) -> None:
    predicted = json.loads(call("predict", str(alloys_model), str(alloys_csv), "--json").stdout)
    assert len(predicted["rows"]) == 80
    assert predicted["rows"][3]["sample"] == "S-0003"
    evaluated = json.loads(call("evaluate", str(alloys_model), str(alloys_csv), "--json").stdout)
    assert evaluated["trained_on"] == 64
    assert evaluated["scored"] == 16
    assert evaluated["fresh"]
    model = TableModel.load(alloys_model)
    assert [one["rmse"] for one in evaluated["scores"]] == [one.rmse for one in model.facts.scores]


def test_json_has_full_precision(
    call, alloys_model: Path, alloys_csv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pandas.DataFrame({"id": ["a", None], "mean": [4.2218123456789e-14, np.nan]})
    monkeypatch.setattr(TableModel, "prediction_table", lambda *arguments: table)
    rows = json.loads(call("predict", str(alloys_model), str(alloys_csv), "--json").stdout)["rows"]
    assert rows == [{"id": "a", "mean": 4.2218123456789e-14}, {"id": None, "mean": None}]


def test_resumed_fit_gives_the_same_model(
    call, alloys_model: Path, alloys_csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(alloys_csv, tmp_path)
    arguments = ["fit", "alloys.csv", *ARGUMENTS, "--effort", "quick", "--out", "m"]
    listen = "import signal as s; s.signal(s.SIGINT, s.default_int_handler)"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{listen}; from vebnn.cli import app; app()", *arguments],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    checkpoint = tmp_path / "m.checkpoint"
    deadline = time.monotonic() + 120
    while not any(checkpoint.glob("*.safetensors")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint.strip().endswith("rerun the same command with --resume.")
    assert not (tmp_path / "m").exists()
    monkeypatch.chdir(tmp_path)
    assert "--resume" in one_sentence(call(*arguments))
    finished = call(*arguments, "--resume", "--json")
    assert finished.returncode == 0, finished.stderr
    found = json.loads(finished.stdout)
    assert found["held_out"] == 16
    effects = {one["input"]: one["effect"] for one in found["relevance"]}
    assert list(effects) == ["alloy", "temperature", "ageing", "annealed"]
    assert min(effects["alloy"], effects["temperature"]) > max(effects["ageing"], effects["annealed"])
    weights = (tmp_path / "m" / "weights.safetensors").read_bytes()
    assert weights == (alloys_model / "weights.safetensors").read_bytes()
    assert not checkpoint.exists()


def test_a_finished_fit_survives_a_failed_save(
    call, alloys_model: Path, alloys_csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(alloys_csv, tmp_path)
    monkeypatch.chdir(tmp_path)
    arguments = ["fit", "alloys.csv", *ARGUMENTS, "--effort", "quick", "--out", "m", "--json"]
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "m")
    with monkeypatch.context() as patched:
        patched.setattr("vebnn.tabular.model.TableModel.save", Mock(side_effect=full))
        sentence = one_sentence(call(*arguments))
    assert sentence == (
        "vebnn: No space left on device: m. The work so far is in m.checkpoint; rerun the same "
        "command with --resume."
    )
    with monkeypatch.context() as patched:
        again = Mock(side_effect=AssertionError("trained again"))
        patched.setattr("vebnn.training.checkpoint.Checkpoint.report", again)
        assert call(*arguments, "--resume").returncode == 0
    weights = (tmp_path / "m" / "weights.safetensors").read_bytes()
    assert weights == (alloys_model / "weights.safetensors").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alloys.csv", "m"]


def test_a_target_that_cannot_be_written_is_refused_before_training(
    call, alloys_csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vebnn.tabular.effort.new_estimator", Mock(side_effect=AssertionError))
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    for out in (tmp_path / "link", tmp_path / "link" / "m"):
        sentence = one_sentence(call("fit", str(alloys_csv), *ARGUMENTS, "--out", str(out)))
        assert "which does not exist" in sentence


@pytest.mark.slow
def test_serve_answers_one_row_within_20_milliseconds(alloys_model: Path) -> None:
    listen = "import signal as s; s.signal(s.SIGINT, s.default_int_handler)"
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", f"{listen}; from vebnn.cli import app; app()"),
            *("serve", str(alloys_model), "--port", "0"),
        ],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    line = process.stdout.readline()
    print(line)
    milliseconds, port = re.fullmatch(
        r"One row takes ([\d.]+) ms. Serving on \S+:(\d+); .*\n", line
    ).groups()
    assert float(milliseconds) < 20
    assert httpx.get(f"http://127.0.0.1:{port}/health").json()["status"] == "ok"
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert (process.returncode, complaint) == (0, "")


def test_serve_on_a_port_that_is_taken(call, alloys_model: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert "Choose another" in one_sentence(call("serve", str(alloys_model), "--port", port))


def test_data_sets_are_listed(call) -> None:
    listed = {row["name"]: row for row in json.loads(call("data", "list", "--json").stdout)}
    assert listed["energy"]["rows"] == 768
    assert listed["energy"]["targets"] == ["heating_load", "cooling_load"]
    assert "yacht" in call("data", "list").stdout
    assert "'iris'" in one_sentence(call("data", "where", "iris"))


def test_data_set_is_found(call) -> None:
    root = os.environ.get("VEBNN_DATA")
    path = Path(root or "none") / "uci" / "yacht" / "data.txt"
    if not path.is_file():
        pytest.skip("needs the yacht set in VEBNN_DATA")
    assert call("data", "where", "yacht", VEBNN_DATA=str(root)).stdout == f"{path}\n"


def test_data_set_that_is_not_here(call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("vebnn.datasets.uci.cache_folder", lambda: tmp_path)
    sentence = one_sentence(call("data", "where", "yacht"))
    assert "vebnn data fetch yacht" in sentence


GOOD = alloys(40)

BAD_INPUTS = {
    "missing column": (GOOD, ["fit", "t.csv", "-t", TARGETS[0], "--drop", "colour"], "'colour'"),
    "text among numbers": (
        GOOD.assign(temperature=["n.d.", *GOOD["temperature"].astype(str)[1:]]),
        ["fit", "t.csv", "-t", TARGETS[0]],
        "row 1 has 'n.d.'",
    ),
    "empty file": ("", ["fit", "t.csv", "-t", "y"], "is empty"),
    "target not there": (GOOD, ["fit", "t.csv", "-t", "hardness"], "no column 'hardness'"),
    "wrong columns": (GOOD[["alloy"]], ["predict", "{model}", "t.csv", "-o", "p.csv"], "lacks"),
    "no target": (
        GOOD.assign(**{TARGETS[0]: None}),
        ["fit", "t.csv", "-t", TARGETS[0]],
        "No row has a value of the target",
    ),
    "one row": (GOOD[:1], ["fit", "t.csv", "-t", TARGETS[0]], "at least 10 rows"),
    "infinite value": (
        GOOD.assign(ageing=[1.0, 2.0, float("inf")] + [3.0] * 37),
        ["fit", "t.csv", "-t", TARGETS[0]],
        "row 3 has inf",
    ),
    "huge file name": (GOOD, ["fit", "t.csv", "-t", TARGETS[0], "-o", "m" * 300], "name too long"),
    "unreadable model": (GOOD, ["evaluate", "broken", "t.csv"], "truncated or was edited"),
}


@pytest.mark.parametrize("name", BAD_INPUTS)
def test_bad_input_is_one_sentence(name: str, alloys_model: Path, tmp_path: Path) -> None:
    table, arguments, words = BAD_INPUTS[name]
    text = table if isinstance(table, str) else table.to_csv(index=False)
    (tmp_path / "t.csv").write_text(text)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "table.json").write_text('{"format": 1, "checksum": ')
    before = sorted(path.name for path in tmp_path.rglob("*"))
    finished = run(*(word.format(model=alloys_model) for word in arguments), cwd=tmp_path)
    assert words in one_sentence(finished)
    assert sorted(path.name for path in tmp_path.rglob("*")) == before
