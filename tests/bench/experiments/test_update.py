"""An update against a new fit."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from tests.support.predictions import of_moments
from vebnn.bench.comparison.reading import read_results
from vebnn.bench.experiments import update
from vebnn.bench.pages.writing import write_page
from vebnn.prediction import Prediction


class Fake:
    """Notes what it learns; an update leaves a larger variance than a fit."""

    asked: list[tuple[str, int]]
    diagnostics_ = None

    def __init__(self, random_state: int) -> None:
        self.scale = 1.0

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self.asked.append(("fit", len(X)))

    def update(self, X: np.ndarray, y: np.ndarray) -> None:
        self.asked.append(("update", len(X)))
        self.scale = 100.0

    def predict_distribution(self, X: np.ndarray) -> Prediction:
        return of_moments(np.zeros(len(X)), 0.1, self.scale)


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    Fake.asked = []
    monkeypatch.setattr(update, "VeBNNRegressor", Fake)
    path = tmp_path / "rows.jsonl"
    update.bench_update(["tiny-linear"], 2, path, Console(file=io.StringIO()))
    return path


def test_two_updates_end_with_the_rows_of_the_new_fit(rows: Path) -> None:
    assert Fake.asked == [("fit", 30), ("update", 45), ("update", 60), ("fit", 60)] * 2
    first = json.loads(rows.read_text().splitlines()[0])
    assert first["half"]["tll_gap"] == first["refitted"]["tll_gap"] > first["updated"]["tll_gap"]
    update.bench_update(["tiny-linear"], 2, rows, Console(file=io.StringIO()))
    assert len(Fake.asked) == 8  # finished rows are not made again


def test_the_page_says_where_the_update_is_worse(rows: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in rows.read_text().splitlines()]
    for line, seconds in zip(lines, (50.0, 3.0), strict=True):
        line["updated"]["cpu_seconds"], line["refitted"]["cpu_seconds"] = seconds, 4.0
    rows.write_text("".join(json.dumps(line) + "\n" for line in lines))
    write_page(read_results([rows]), tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "update takes 0.75 times the time" in text  # without seed 0, which compiles
    assert "lower in 2 of them, and on average it is lower on tiny-linear (-" in text
    gap = np.mean([line["updated"]["tll_gap"] for line in lines])
    assert f"| {gap:.3f} |" in text
