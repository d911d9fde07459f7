"""``vebnn bench run``: the real command, on a small table of one's own."""

import json
from pathlib import Path

import numpy as np
import pandas
import pytest

from tests.support.commands import one_sentence, run

OWN = """
import numpy as np
from vebnn.bench.forecasts import Forecast

def line(X, y, X_new, seed):
    A, B = (np.column_stack([np.ones(len(rows)), rows]) for rows in (X, X_new))
    weights, *_ = np.linalg.lstsq(A, y, rcond=None)
    variance = np.full(len(B), np.var(y - A @ weights))
    return Forecast(B @ weights, variance, notes={"inputs_seen": X.shape[1]})
"""
METHODS = "mine.py:line,GP / positive,MVE (NLL)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table with a date, a category with gaps, an identifier and a positive target; a method."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=80)
    table = {
        "name": [f"specimen {n}" for n in range(80)],
        "made": pandas.date_range("2024-01-01", periods=80, freq="D").strftime("%d.%m.%Y"),
        "x": x,
        "maker": np.where(rng.uniform(size=80) < 0.2, "", rng.choice(["north", "south"], 80)),
        "price": np.exp(2 * x + 0.8 * rng.normal(size=80)),
    }
    pandas.DataFrame(table).to_csv(tmp_path / "shop.csv", index=False)
    (tmp_path / "mine.py").write_text(OWN)
    return tmp_path


@pytest.fixture
def bench(folder: Path, call, monkeypatch: pytest.MonkeyPatch):
    """The command in this process."""
    monkeypatch.chdir(folder)
    return lambda *more, **changes: call(*arguments(*more, **changes))


def arguments(*more: str, target: str = "price", methods: str = METHODS) -> tuple[str, ...]:
    data = ("bench", "run", "--data", "shop.csv", "--target", target, "--out", "rows.jsonl")
    return *data, "--methods", methods, "--splits", "2", "--preset", "quick", "--jobs", "1", *more


def test_methods_on_a_table(folder: Path, bench, call) -> None:
    first = run(*arguments("--target-kind", "positive"), cwd=folder)
    assert first.returncode == 0, first.stderr
    assert "shop: price (positive): 80 rows, 14 inputs; rows are held out at random." in first.stdout
    file = folder / "rows.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert {(row["method"], row["split"]) for row in rows} == {
        (name, split) for name in METHODS.split(",") for split in (0, 1)
    }
    assert {(row["trained"], row["tested"], row["target_kind"]) for row in rows} == {
        (64, 16, "positive")
    }
    by_method = {row["method"]: row for row in rows if row["split"] == 0}
    assert by_method["mine.py:line"]["inputs_seen"] == by_method["mine.py:line"]["inputs"] == 14
    # On the log scale, no interval goes below 0; a Gaussian one of a skewed target does.
    assert by_method["mine.py:line"]["impossible"] > 0.5
    assert by_method["GP / positive"]["impossible"] == by_method["MVE (NLL)"]["impossible"] == 0

    again = bench("--target-kind", "positive")
    assert "6/6" in again.stdout
    assert len(file.read_text().splitlines()) == len(rows)

    table = call("bench", "table", "rows.jsonl", "--metric", "tll", "--out", "t")
    assert table.returncode == 0, table.stderr
    assert "Rank: average over 1 data set: shop: price." in table.stdout
    latex = (folder / "t" / "tables.tex").read_text()
    assert r"\begin{tabular}{lcc}" in latex
    assert not [line for line in latex.splitlines() if "resizebox" in line and line[0] != "%"]
    tll = np.mean([row["tll"] for row in rows if row["method"] == "mine.py:line"])
    assert "mine.py:line & " in latex
    assert f"{tll:.2f}".replace("-", "$-$") in latex

    page = call("bench", "page", "rows.jsonl", "--out", "page.md")
    assert page.returncode == 0, page.stderr
    text = (folder / "page.md").read_text()
    assert "64 rows to train on, 16 held out, 14 inputs, 2 splits, target kind positive." in text


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"methods": "XGBoost"}, "There is no method 'XGBoost'"),
        ({"methods": "none.py:f"}, "'none.py:f' must be file.py:function"),
        ({"target": "prize"}, "no column 'prize' for target"),
        ({"target": "name"}, "specimen 0"),
        ({"methods": "GP / fraction"}, "must be numbers between 0 and 1"),
    ],
)
def test_complaints_are_one_sentence_and_come_before_any_fit(
    changes: dict, sentence: str, folder: Path, bench
) -> None:
    assert sentence in one_sentence(bench(**changes))
    assert not (folder / "rows.jsonl").exists()


def test_a_column_that_no_file_has(bench) -> None:
    finished = bench("--group", "maker", "--drop", "colour")
    assert "No file has the column 'colour'" in one_sentence(finished)
