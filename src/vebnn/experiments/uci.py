"""UCI regression: default settings on seeded splits, beside the numbers of the paper."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import train_test_split

from vebnn.datasets.uci import load_uci
from vebnn.estimators import VeBNNRegressor
from vebnn.experiments.results import (
    ResultsFile,
    Row,
    average,
    mean_and_std,
    r_hat,
    run_cases,
    stamp,
    wide_table,
)
from vebnn.metrics import coverage, log_likelihood, rmse

TEST_SHARE = 0.2
LEVEL = 0.95


class Published(NamedTuple):
    """A row of the paper: means over its own 20 splits, which are not published."""

    tll: float
    rmse: float


# VeBNN (pSGLD) in the paper's Table 1 (TLL) and its appendix table of RMSE on UCI data.
PAPER = {
    "boston": Published(-2.57, 3.64),
    "carbon": Published(4.04, 0.0064),
    "concrete": Published(-2.87, 4.70),
    "energy": Published(-0.85, 0.77),
    "power": Published(-2.74, 3.79),
    "superconduct": Published(-3.41, 12.23),
    "wine-red": Published(-0.95, 0.63),
    "yacht": Published(-1.27, 0.87),
}


def score_split(name: str, split: int) -> Row:
    """Fit the default model to 80 % of the rows; return its numbers on the others.

    Args:
      name: the data set.
      split: seeds both the split and the model.
    """
    data = load_uci(name)
    parts = train_test_split(data.X, data.y, test_size=TEST_SHARE, random_state=split)
    X_train, X_test, y_train, y_test = parts
    model = VeBNNRegressor(random_state=split).fit(X_train, y_train)
    prediction = model.predict_distribution(X_test)
    lower, upper = prediction.interval(LEVEL)
    return {
        "rmse": rmse(y_test, prediction.mean),
        "tll": log_likelihood(y_test, prediction.mean, prediction.variance),
        "coverage": coverage(y_test, lower, upper),
        "interval_length": float(np.mean(upper - lower)),
        "r_hat": r_hat(model),
    }


def bench_uci(datasets: Sequence[str], num_splits: int, path: Path, console: Console) -> list[Row]:
    """Score every data set on every split, print the table, return the rows; finished ones are kept."""
    if num_splits < 1:
        raise ValueError(f"The number of splits must be at least 1. Got {num_splits}.")
    if not datasets:
        raise ValueError("The benchmark needs at least one data set. Got none.")
    for name in datasets:
        load_uci(name)  # a missing file is said before the first long fit
    rows = run_cases(
        ResultsFile(path, stamp("uci", model="VeBNNRegressor()", test_share=TEST_SHARE)),
        [{"dataset": name, "split": split} for name in datasets for split in range(num_splits)],
        lambda case: score_split(case["dataset"], case["split"]),
        console,
        lambda case: f"{case['dataset']} · split {case['split']}",
    )
    console.print(bench_table(rows))
    console.print(f"Rows: {path}", highlight=False, soft_wrap=True)
    return rows


def bench_table(rows: Sequence[Row]) -> Table:
    """Return a line per data set with the paper's numbers beside ours, and the average coverage."""
    table = wide_table(
        title="UCI: 80/20 splits, default settings, no recalibration",
        caption=(
            "Mean ± std over splits. Paper: VeBNN (pSGLD), 20 other splits. Coverage and length: of "
            "95 % intervals. Seconds: per split."
        ),
        columns=(
            *("data set", "splits", "TLL", "paper", "RMSE", "paper"),
            *("coverage", "length", "seconds"),
        ),
    )
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        by_name.setdefault(row["dataset"], []).append(row)
    for name, group in by_name.items():
        table.add_row(
            name,
            str(len(group)),
            mean_and_std(group, "tll", ".2f"),
            f"{PAPER[name].tll:.2f}",
            mean_and_std(group, "rmse", ".3g"),
            f"{PAPER[name].rmse:.3g}",
            f"{average(group, 'coverage'):.3f}",
            f"{average(group, 'interval_length'):.3g}",
            f"{average(group, 'seconds'):.1f}",
        )
    table.add_section()
    # Every data set counts the same, however many splits it has.
    mean_coverage = np.mean([average(group, "coverage") for group in by_name.values()])
    table.add_row("average", "", "", "", "", "", f"{mean_coverage:.3f}", "", "", style="bold")
    return table
