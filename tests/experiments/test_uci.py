import io
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from vebnn.datasets.uci import SOURCES, UCI
from vebnn.experiments import uci
from vebnn.prediction import Prediction


def row(dataset: str, split: int, **numbers: float) -> dict:
    usual = {"tll": -1.0, "rmse": 0.5, "coverage": 0.95, "interval_length": 2.0, "seconds": 9.0}
    return {"dataset": dataset, "split": split, **usual, **numbers}


def plain(rows: list[dict]) -> str:
    console = Console(file=io.StringIO(), width=80)
    console.print(uci.bench_table(rows))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_the_paper_has_a_number_for_every_set() -> None:
    assert uci.PAPER.keys() == SOURCES.keys()


def test_table_has_the_papers_numbers_beside_ours() -> None:
    text = plain([row("yacht", 0, tll=-1.0), row("yacht", 1, tll=-2.0), row("concrete", 0, tll=-3.0)])
    (yacht,) = [line for line in text.splitlines() if "yacht" in line]
    assert yacht.split()[:6] == ["yacht", "2", "-1.50", "±", "0.71", "-1.27"]
    (concrete,) = [line for line in text.splitlines() if "concrete" in line]
    assert concrete.split()[:6] == ["concrete", "1", "-3.00", "-2.87", "0.5", "4.7"]


def test_every_data_set_counts_the_same_in_the_average() -> None:
    rows = [
        row("yacht", 0, coverage=1.0),
        row("yacht", 1, coverage=1.0),
        row("boston", 0, coverage=0.9),
    ]
    (average,) = [line for line in plain(rows).splitlines() if "average" in line]
    assert average.split() == ["average", "0.950"]


@pytest.mark.parametrize("num_targets", [1, 2])
def test_score_is_that_of_rows_the_model_has_not_seen(
    num_targets: int, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    X = np.arange(50.0)[:, None]
    y = np.tile(X, num_targets) + 3 * rng.standard_normal((50, num_targets))
    y = y[:, 0] if num_targets == 1 else y
    seen: list[float] = []

    def predict(rows: np.ndarray) -> Prediction:
        assert len(rows) == 10
        assert not set(rows[:, 0]) & set(seen)
        mean = rows[:, 0] if num_targets == 1 else np.tile(rows, num_targets)
        variance = np.full_like(mean, 9.0)
        return Prediction(mean, variance, 0 * variance, load_components=lambda: None)

    def fit(rows: np.ndarray, targets: np.ndarray) -> SimpleNamespace:
        seen.extend(rows[:, 0])
        return SimpleNamespace(predict_distribution=predict, diagnostics_=None)

    monkeypatch.setattr(uci, "load_uci", lambda name: UCI(X, y, ("x",), ("y",) * num_targets))
    monkeypatch.setattr(uci, "VeBNNRegressor", lambda random_state: SimpleNamespace(fit=fit))
    numbers = uci.score_split("any", 4)
    test = np.setdiff1d(X[:, 0], seen).astype(int)
    residual = (y[test] - (X[test, 0] if num_targets == 1 else X[test])).reshape(len(test), -1)
    assert numbers["rmse"] == pytest.approx(np.mean(np.sqrt((residual**2).mean(0))))
    expected = -0.5 * np.log(2 * np.pi * 9) - 0.5 * np.mean(residual**2) / 9
    assert numbers["tll"] == pytest.approx(expected)
    assert numbers["coverage"] == pytest.approx(np.mean(np.abs(residual) <= 1.959964 * 3))
    assert numbers["interval_length"] == pytest.approx(2 * 1.959964 * 3)


def test_missing_data_are_noticed_before_the_first_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VEBNN_DATA", str(tmp_path))
    monkeypatch.setattr(uci, "score_split", lambda name, split: pytest.fail("a fit was begun"))
    with pytest.raises(FileNotFoundError, match="yacht"):
        uci.bench_uci(["yacht"], 1, tmp_path / "rows.jsonl", Console(file=io.StringIO()))
    assert not (tmp_path / "rows.jsonl").exists()
