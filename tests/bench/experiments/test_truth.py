"""Scores against a known truth."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from vebnn.bench.experiments import queue, truth
from vebnn.bench.forecasts import Forecast
from vebnn.datasets.truth import load_truth


def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def test_scores_of_a_forecast_computed_by_hand() -> None:
    mean, noise = np.array([1.0, 2.0, 3.0]), np.array([0.5, 1.0, 1.0])
    y = np.array([1.2, 3.9, 2.0])
    predicted = mean + np.array([0.1, -0.3, 0.2])
    epistemic, std = np.array([0.1, 0.1, 0.2]), np.array([0.6, 1.0, 0.5])
    total = epistemic**2 + std**2
    inside = Forecast(predicted, total, notes={"r_hat": 1.1}, noise_variance=std**2)
    outside = Forecast(np.zeros(2), np.full(2, 5.0), noise_variance=np.full(2, 1.0))
    row = truth.score_truth(inside, outside, y, mean, noise, np.array([3.9, 4.0]))
    assert row["mean_error"] == pytest.approx(
        np.sqrt((0.01 + 0.09 + 0.04) / 3) / np.sqrt((0.25 + 1 + 1) / 3)
    )
    assert row["epistemic_coverage"] == pytest.approx(2 / 3)  # 0.3 is more than 1.96 · 0.1
    assert row["noise_error"] == pytest.approx((0.1 / 0.5 + 0 + 0.5) / 3)
    gap = stats.norm.logpdf(y, predicted, np.sqrt(total)) - stats.norm.logpdf(y, mean, noise)
    assert row["tll_gap"] == pytest.approx(gap.mean())
    # |1.2 − 1.1|, |3.9 − 1.7| and |2 − 3.2| against 1.96 · √total = 1.19, 1.97 and 1.06.
    assert row["coverage"] == pytest.approx(1 / 3)
    assert row["outside_coverage"] == 0.5  # 1.96 · 2 = 3.92
    assert row["r_hat"] == 1.1


def test_the_truth_itself_has_no_gap() -> None:
    data = load_truth("additive", 5_000)
    mean, noise = data.truth.mean(data.X_test), data.truth.noise_std(data.X_test)
    forecast = Forecast(mean, noise**2, noise_variance=noise**2)
    row = truth.score_truth(forecast, forecast, data.y_test, mean, noise, mean)
    assert row["mean_error"] == row["tll_gap"] == 0
    assert row["noise_error"] == pytest.approx(0)
    assert row["coverage"] == pytest.approx(0.95, abs=0.01)
    # One model without an epistemic part has no epistemic interval.
    assert row["epistemic_coverage"] is row["outside_coverage"] is None


def test_a_method_without_a_split_has_total_scores_only() -> None:
    forecast = Forecast(np.zeros(3), np.ones(3), (np.full(3, -9.0), np.full(3, 9.0)))
    row = truth.score_truth(forecast, forecast, np.full(3, 8.0), *np.ones((3, 3)))
    assert row["noise_error"] is row["epistemic_coverage"] is row["outside_coverage"] is None
    assert row["coverage"] == 1


def test_rows_are_resumed_and_a_new_seed_is_added(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    for seeds in (1, 2):
        rows = truth.bench_truth(["tiny-linear"], ["gp (4 starts)"], seeds, path, console(), jobs=1)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines == rows
    assert [row["seed"] for row in rows] == [0, 1]
    assert {row["problem"] for row in rows} == {"tiny-linear"}
    assert rows[0]["experiment"] == "truth"
    # A linear function is easy for a Gaussian process.
    for row in rows:
        assert 0 < row["mean_error"] < 0.8
        assert row["noise_error"] < 0.3
        assert -0.4 < row["tll_gap"] < 0
        assert 0.75 < row["coverage"] <= 1


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"num_seeds": 0}, ValueError, "The `seeds` must be a whole number of at least 1. Got 0."),
        (
            {"problems": ["linear"]},
            ValueError,
            "The `problem` must be one of 'additive',.*Got 'linear'",
        ),
        ({"methods": ["XGBoost"]}, ValueError, "no method 'XGBoost'"),
        ({"preset": "fast"}, ValueError, "The `preset` must be one of .* Got 'fast'."),
    ],
)
def test_bad_arguments(changes: dict, error: type, sentence: str, tmp_path: Path) -> None:
    usual = {"problems": ["additive"], "methods": ["GP"], "num_seeds": 1}
    with pytest.raises(error, match=sentence):
        truth.bench_truth(path=tmp_path / "rows", console=console(), **(usual | changes))
    assert not (tmp_path / "rows").exists()


def test_a_missing_package_is_said_before_any_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vebnn.bench.baselines.find_spec", lambda name: None if name == "bde" else 1)
    with pytest.raises(ModuleNotFoundError, match=r"bde needs .* pip install 'vebnn\[bde\]'"):
        queue.method_names(["GP", "BDE"], "standard")
