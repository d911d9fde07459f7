"""``vebnn fit --calibrate``, and what later commands make of it."""

import json
from pathlib import Path

import numpy as np
import pandas
import pytest
from httpx import Client

from alloys import TARGETS, alloys
from tests.support.commands import Finished, one_sentence, run
from tests.support.serving import serving
from vebnn.tabular.model import TableModel
from vebnn.tabular.plan import plan_table
from vebnn.tabular.service.app import create_app

TARGET = TARGETS[0]
NUM_ROWS, TRAINED, CALIBRATED, HELD_OUT = 120, 76, 20, 24


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calibrated")
    alloys(NUM_ROWS).drop(columns=TARGETS[1]).to_csv(folder / "alloys.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def fit(folder: Path) -> Finished:
    words = ("--effort", "quick", "--inference", "map", "--calibrate", "conformal", "--out", "m")
    finished = run("fit", "alloys.csv", "--target", TARGET, *words, cwd=folder)
    assert finished.returncode == 0, finished.stderr
    return finished


@pytest.fixture(scope="module")
def model(folder: Path, fit: Finished) -> TableModel:
    return TableModel.load(folder / "m")


@pytest.fixture(scope="module")
def reach(model: TableModel) -> float:
    """How many stds intervals reach, from the rows the plan keeps: the ⌈21 · 0.95⌉-th of 20 errors."""
    frame = alloys(NUM_ROWS)
    rows = frame.iloc[plan_table(frame, [TARGET], drop=[TARGETS[1]], calibrate="conformal").calibrated]
    raw = model.estimator.predict_distribution(model.encoder.encode(rows).matrix, calibrated=False)
    return np.max(np.abs(rows[TARGET] - raw.mean) / raw.std)


def test_fit_shows_the_calibration(fit: Finished, reach: float) -> None:
    for words in (
        f"{NUM_ROWS} rows: {TRAINED} to train on, {CALIBRATED} to calibrate on, {HELD_OUT} held out.",
        f"On {HELD_OUT} rows it was not trained or calibrated on",
    ):
        assert words in fit.stdout
    (line,) = (line for line in fit.stdout.splitlines() if "interval reaches ± stds" in line)
    assert float(line.split()[-1]) == pytest.approx(reach, rel=5e-3)


def test_evaluate_leaves_out_the_rows_of_the_calibration(call, folder: Path, reach: float) -> None:
    arguments = ("evaluate", str(folder / "m"), str(folder / "alloys.csv"))
    found = json.loads(call(*arguments, "--json").stdout)
    assert (found["trained_on"], found["scored"]) == (TRAINED + CALIBRATED, HELD_OUT)
    assert found["calibration"]["method"] == "conformal"
    assert found["calibration"]["rows"] == CALIBRATED
    assert found["calibration"]["interval_stds"] == pytest.approx([reach], rel=1e-5)
    words = call(*arguments).stdout
    assert f"{TRAINED + CALIBRATED} of {NUM_ROWS} rows were trained or calibrated on" in words
    assert "interval reaches ± stds" in words


def test_predictions_have_the_calibrated_intervals(call, folder: Path, model, reach: float) -> None:
    out = folder / "p.csv"
    data = (str(folder / "m"), str(folder / "alloys.csv"), "--out", str(out))
    assert call("predict", *data).returncode == 0
    table = pandas.read_csv(out)
    np.testing.assert_allclose(table["upper"] - table["mean"], reach * table["std"], rtol=1e-5)
    out.unlink()
    sentence = one_sentence(call("predict", *data, "--level", "0.99"))
    assert "need at least 99 held-out rows. Got 20" in sentence
    assert not out.exists()


def test_service_knows_the_calibration(model: TableModel) -> None:
    row = alloys(1)[["alloy", "temperature", "ageing", "annealed"]].to_dict("records")
    with serving(create_app(model)) as address, Client(base_url=address, timeout=60) as client:
        assert client.get("/model").json()["calibration"] == "conformal"
        refused = client.post("/predict", json={"rows": row, "level": 0.99})
        answer = client.post("/predict", json={"rows": row, "level": 0.5}).json()
    assert refused.status_code == 422
    assert "need at least 99" in refused.json()["detail"][0]["msg"]
    assert answer["predictions"][0][TARGET]["std"] > 0


def test_report_says_so(call, folder: Path, fit: Finished) -> None:
    out = folder / "report.html"
    data = (str(folder / "m"), str(folder / "alloys.csv"), "--out", str(out))
    assert call("report", *data).returncode == 0
    text = out.read_text()
    assert f"calibrated (conformal) on {CALIBRATED} others" in text
    assert f"{TRAINED + CALIBRATED} of them were trained or calibrated on" in text


@pytest.mark.parametrize(
    ("method", "words"),
    [("conformal", "at least 19 rows of its own. Got 13 rows"), ("platt", "must be one of 'common'")],
)
def test_wrong_calibrations_are_one_sentence(
    call, alloys_csv: Path, tmp_path: Path, method: str, words: str
) -> None:
    out = tmp_path / "m"
    arguments = ("fit", str(alloys_csv), "--target", TARGET, "--calibrate", method, "--out", str(out))
    assert words in one_sentence(call(*arguments))
    assert list(tmp_path.iterdir()) == []
