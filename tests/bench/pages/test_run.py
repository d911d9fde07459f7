"""The page of methods on tables: means, and where VeBNN is worse."""

import re
from pathlib import Path

from vebnn.bench.comparison.reading import results_of
from vebnn.bench.pages.run import run_page

OURS, OTHER = "VeBNN (pSGHMC)", "CatBoost"


def row(dataset: str, method: str, split: int, coverage: float, **numbers: float) -> dict:
    facts = {"target_kind": "positive", "impossible": 0.25, "trained": 80, "tested": 20, "inputs": 3}
    scores = {"rmse": 2.0, "tll": -1.0, "crps": 1.0, "coverage": coverage, **numbers}
    return {
        "experiment": "run",
        "dataset": dataset,
        "method": method,
        "split": split,
        **facts,
        **scores,
    }


def test_page() -> None:
    rows = [
        row("a: y", OURS, 0, 0.94, tll=-1.0),
        row("a: y", OURS, 1, 0.96, tll=-3.0),
        row("a: y", OTHER, 0, 0.5, tll=-2.5, rmse=3.0, crps=1.5),
        row("a: y", OTHER, 1, 0.5, tll=-3.5, rmse=4.0, crps=0.75),
        row("b: z", OURS, 0, 0.875),
        row("b: z", OTHER, 0, 0.95, rmse=1.0),
    ]
    text = run_page(results_of(rows)).text
    assert "80 rows to train on, 20 held out, 3 inputs, 2 splits, target kind positive." in text
    first, second = (line for line in text.splitlines() if line.startswith(f"| {OURS}"))
    # Means, with stds: √2 for −1 and −3, √2 / 100 for the coverage.
    assert "| **2 (0)** | **2.000 (1.414)** | **1 (0)** | 0.950 (0.014) | 0.250 (0.000) |" in first
    assert "| 2 | **1.000** | **1** | 0.875 | 0.250 |" in second
    verdict = text[text.index("## Where VeBNN is worse") :].replace("\\", "")
    assert "it is outside [0.92, 0.98] on b: z (0.875) (2 data sets)" in verdict
    assert "RMSE is the best on 1 of 2; others are better on b: z (CatBoost)." in verdict
    assert "NLL is the best on 2 of 2." in verdict
    assert "CRPS is the best on 2 of 2." in verdict


def test_methods_are_compared_on_the_splits_that_both_have() -> None:
    rows = [row("a: y", OURS, 0, 0.95, rmse=1.0), row("a: y", OURS, 1, 0.95, rmse=9.0)]
    text = run_page(results_of([*rows, row("a: y", OTHER, 0, 0.95, rmse=2000.0)])).text
    assert "| 2000, n=1 | **1.000, n=1** |" in text
    assert "RMSE is the best on 1 of 1." in text


def test_the_committed_page_is_that_of_the_committed_rows() -> None:
    from vebnn.bench.comparison.reading import read_results

    folder = Path(__file__).parents[3] / "docs" / "results"
    page = (folder / "tables.md").read_text()
    assert page == run_page(read_results([folder / "tables.jsonl"])).text
    assert not re.search(r"\bnan\b", page)
