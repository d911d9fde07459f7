"""The paper's study of the iteration K: validation NLL after every step, inside one fit."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas
from rich.console import Console
from sklearn.model_selection import train_test_split

from vebnn.bench.experiments.queue import one_core
from vebnn.bench.experiments.uci import TEST_SHARE
from vebnn.bench.experiments.uci_settings import CALIBRATION_SHARE, UCI_PRESETS, arguments
from vebnn.bench.figures.rounds import plot_steps
from vebnn.bench.methods import METHODS
from vebnn.bench.render.sheet import Sheet, cells
from vebnn.bench.render.terminal import print_lines, print_sheet
from vebnn.bench.results import ResultsFile, Row, run_cases, stamp
from vebnn.bench.steps import fit_by_steps
from vebnn.core.arguments import require_one_of, require_whole
from vebnn.datasets.uci import load_uci
from vebnn.metrics import log_likelihood, rmse
from vebnn.plots import save_figure
from vebnn.training import Training

METHOD = METHODS["VeBNN (pSGLD)"]
# How Step 1 starts, and what changes of the preset.
STARTS: dict[str, dict[str, Any]] = {
    "trained": {},
    "untrained": {"mean_training": Training(0), "learning_rates": ()},
}
FIELDS = {"validation_nll": "validation NLL", "test_nll": "test NLL", "test_rmse": "RMSE"}


@one_core
def score_steps(preset: str, num_rounds: int, dataset: str, start: str, split: int) -> Row:
    """Fit so many rounds to a split; return the scores after every step.

    The validation rows, a fifth of the training rows, stop Step 1 early and are never trained on.
    """
    data = load_uci(dataset)
    X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=TEST_SHARE, random_state=split)
    parts = train_test_split(X, y, test_size=CALIBRATION_SHARE, random_state=split)
    X_fit, X_val, y_fit, y_val = parts
    settings = arguments(METHOD, preset, len(X_fit)) | STARTS[start]
    wanted = {"rounds": num_rounds, "choose_round": "last", "random_state": split}
    model = METHOD.make(**settings | wanted)

    def score(predict: Any) -> Row:
        here, there = predict(X_val), predict(X_test)
        return {
            "validation_nll": -log_likelihood(y_val, here.mean, here.variance),
            "test_nll": -log_likelihood(y_test, there.mean, there.variance),
            "test_rmse": rmse(y_test, there.mean),
        }

    return {"steps": fit_by_steps(model, score, X_fit, y_fit, X_val=X_val, y_val=y_val)}


def bench_rounds(
    datasets: Sequence[str],
    num_rounds: int,
    num_splits: int,
    preset: str,
    path: Path,
    folder: Path,
    console: Console,
) -> list[Row]:
    """Score every step with a trained and an untrained Step 1; print tables, draw figures."""
    require_whole("rounds", num_rounds, 1)
    require_whole("splits", num_splits, 1)
    require_one_of("preset", preset, UCI_PRESETS)
    for name in datasets:
        load_uci(name)  # a missing file stops the command before the first fit
    rows = run_cases(
        ResultsFile(path, stamp("rounds", preset=preset, rounds=num_rounds)),
        [
            {"dataset": name, "start": start, "split": split}
            for split in range(num_splits)
            for name in datasets
            for start in STARTS
        ],
        partial(score_steps, preset, num_rounds),
        console,
    )
    print_sheet(rounds_sheet(rows), console)
    for name in datasets:
        first = {row["start"]: row for row in rows if (row["dataset"], row["split"]) == (name, 0)}
        curves = {f"Step 1 {start}": first[start]["steps"] for start in STARTS}
        figure = plot_steps(curves, "validation_nll", FIELDS["validation_nll"])
        print_lines(console, f"Figure: {save_figure(figure, folder, f'rounds-{name}')[0]}")
    print_lines(console, f"Rows: {path}")
    return rows


def rounds_sheet(rows: Sequence[Row]) -> Sheet:
    """Return the means over splits: a row for every data set, start and step."""
    steps = [
        {"dataset": row["dataset"], "start": row["start"], **s} for row in rows for s in row["steps"]
    ]
    keys = ["dataset", "start", "step"]
    groups = pandas.DataFrame(steps).groupby(keys, sort=False)
    means = groups[list(FIELDS)].mean().groupby(keys[:2], sort=False)
    return Sheet(
        "Scores after every step of one fit",
        "Means over splits. Validation: rows that stop Step 1 early and are never trained on. After "
        "Step 1 the noise is constant, of the size of the residuals.",
        (*keys, *FIELDS.values()),
        [
            [
                cells(*map(str, name), *(f"{value:.3f}" for value in values))
                for name, values in zip(some.index, some.to_numpy(), strict=True)
            ]
            for _, some in means
        ],
    )
