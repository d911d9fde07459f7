"""Whole conditions are held out."""

import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from vebnn.bench.comparison.reading import read_results
from vebnn.bench.experiments import replicates
from vebnn.bench.forecasts import Forecast
from vebnn.bench.pages.writing import write_page
from vebnn.datasets.replicates import Replicates


def console() -> Console:
    return Console(file=io.StringIO(), width=200)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Replicates:
    """Eighty conditions with three repeats, whose noise grows with the input."""
    rng = np.random.default_rng(0)
    condition = np.repeat(np.arange(80), 3)
    x = condition / 80
    y = np.sin(4 * x) + (0.1 + 0.5 * x) * rng.standard_normal(240)
    data = Replicates(x[:, None], y, condition, ("x",), "y")
    monkeypatch.setattr(replicates, "load_replicates", lambda name: data)
    return data


def oracle(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
    mean, noise = np.sin(4 * X_new[:, 0]) + 0.01, (0.1 + 0.5 * X_new[:, 0]) ** 2
    return Forecast(mean, noise + 0.01**2, noise_variance=noise)


def test_every_condition_is_tested_once_and_whole(measured: Replicates) -> None:
    tested = [replicates.held_out(measured.condition, split) for split in range(5)]
    np.testing.assert_array_equal(np.sum(tested, axis=0), 1)
    for rows in tested:
        assert not set(measured.condition[rows]) & set(measured.condition[~rows])
        assert rows.sum() == 48


def test_the_truth_has_the_right_noise_and_its_page_has_a_picture(
    measured: Replicates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicates, "find_forecaster", lambda name, preset: (name, oracle))
    path = tmp_path / "rows.jsonl"
    rows = replicates.bench_replicates(["crossed-barrel"], ["VeBNN (pSGHMC)"], path, console(), jobs=1)
    assert [row["split"] for row in rows] == [0, 1, 2, 3, 4]
    for row in rows:
        assert row["noise_ratio"] == pytest.approx(1, abs=0.35)
        assert row["noise_rank"] > 0.2
        assert row["epistemic_coverage"] >= 0.75
        assert len(row["conditions"]["observed"]["scatter"]) == 16
    page = tmp_path / "page.md"
    text, picture = write_page(read_results([path]), page)
    assert picture == tmp_path / "page" / "noise.png"
    assert picture.stat().st_size > 5_000
    written = text.read_text()
    pooled = np.sqrt(
        np.mean((0.1 + 0.5 * measured.X[::3, 0]) ** 2)
        / np.mean(measured.y.reshape(-1, 3).var(axis=1, ddof=1))
    )
    assert f"noise ratio | 0.9–1.1 | {pooled:.3f} | ✓ |" in written


def test_a_method_without_a_split_has_total_scores_only(measured: Replicates) -> None:
    forecast = Forecast(np.zeros(240), np.ones(240))
    row = replicates.score_repeats(forecast, measured.y, measured.condition)
    assert row["noise_ratio"] is row["noise_rank"] is row["epistemic_coverage"] is None
    assert row["rmse"] == pytest.approx(np.sqrt(np.mean(measured.y**2)))


def test_missing_data_are_said_before_any_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VEBNN_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="The p3ht set was not found"):
        replicates.bench_replicates(["p3ht"], ["GP"], tmp_path / "rows", console())
    assert not (tmp_path / "rows").exists()
