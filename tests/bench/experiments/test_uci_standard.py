"""Standard splits: the same rows as in the literature, apart from our own splits."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from vebnn.bench.comparison.reading import read_results, results_of
from vebnn.bench.experiments import uci
from vebnn.bench.forecasts import Forecast
from vebnn.bench.pages.standard_splits import standard_splits_page
from vebnn.bench.pages.writing import write_page
from vebnn.datasets.uci import UCI


def console() -> Console:
    return Console(file=io.StringIO(), width=200)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[np.ndarray, np.ndarray]]:
    """Forty rows with two splits; the list has the training and the test inputs of every fit."""
    X = np.arange(40.0)[:, None]
    data, found = UCI(X, 2 * X[:, 0], ("x",), ("y",)), []
    splits = [np.array([7, 3, 11, 39]), np.array([0, 1, 2, 5])]

    def method(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
        np.testing.assert_array_equal(y, 2 * X[:, 0])
        found.append((X[:, 0], X_new[:, 0]))
        return Forecast(2 * X_new[:, 0] + 1, np.ones(len(X_new)))

    monkeypatch.setattr(uci, "load_standard", lambda name: (data, splits))
    monkeypatch.setattr(uci, "load_uci", lambda name: data)
    monkeypatch.setattr(uci, "find_forecaster", lambda name, preset: (name, method))
    return found


def test_tested_rows_are_those_of_the_file(seen: list, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    for standard in (True, False):
        rows = uci.bench_uci(
            ["yacht"], 2, path, console(), methods=["GP"], jobs=1, standard_splits=standard
        )
        assert len(rows) == 2
    assert sorted(seen[0][1]) == [3, 7, 11, 39]
    assert sorted(seen[1][1]) == [0, 1, 2, 5]
    for train, test in seen:
        assert sorted([*train, *test]) == list(range(40))
    written = [json.loads(line) for line in path.read_text().splitlines()]
    # Both kinds of split can share a file: neither is taken for the other.
    assert [row["experiment"] for row in written] == ["uci standard"] * 2 + ["uci"] * 2
    assert [len(test) for _, test in seen] == [4, 4, 8, 8]
    assert read_results([path]).experiment == "uci"
    assert written[0]["rmse"] == pytest.approx(1)


def test_there_are_twenty_splits(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"There are 20 standard splits. Got --splits 21"):
        uci.bench_uci(["yacht"], 21, tmp_path / "rows", console(), methods=["GP"], standard_splits=True)


def test_published_numbers_stand_below_ours(tmp_path: Path) -> None:
    numbers = {"tll": -2.5, "rmse": 3.0, "crps": 1.5, "coverage": 0.95, "seconds": 1.0}
    rows = [
        {"experiment": "uci standard", "dataset": name, "method": method, "split": split, **numbers}
        for name in ("boston", "yacht")
        for method in ("VeBNN (pSGLD)", "GP")
        for split in range(2)
    ]
    page = standard_splits_page(results_of(rows)).text
    tables = {part.partition(" ")[0]: part for part in page.split("\n## ")[1:]}
    assert "| MC dropout, grid search (published) | -2.40 (0.04) | -1.25 (0.01) | – |" in tables["TLL"]
    assert "| Deep ensembles (published) | 3.28 (1.00) | 1.58 (0.48) | – |" in tables["RMSE"]
    assert "published" not in tables["CRPS"]
    assert "by CRPS" in tables["VeBNN"]
    # The paper's own splits are others: its numbers do not stand here.
    assert "paper -2" not in page
    path = tmp_path / "uci-standard.md"
    assert write_page(results_of(rows), path) == [path]
