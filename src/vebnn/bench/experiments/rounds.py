"""The paper's study of the iteration K: validation NLL after every step, inside one fit."""

from collections.abc import Sequence
from dataclasses import replace
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
from vebnn.inference import PSGLD
from vebnn.metrics import log_likelihood, rmse
from vebnn.plots import save_figure
from vebnn.training import Training

METHOD = METHODS["VeBNN (pSGLD)"]
UNTRAINED = {"mean_training": Training(0), "learning_rates": ()}
VARIANTS = ("trained", "untrained", "with Γ")
FIELDS = {"validation_nll": "validation NLL", "test_nll": "test NLL", "test_rmse": "RMSE"}


@one_core
def score_steps(preset: str, num_rounds: int, dataset: str, variant: str, split: int) -> Row:
    """Fit so many rounds to a split; return the scores after every step.

    The validation rows, a fifth of the training rows, stop Step 1 early and are never trained on.
    """
    data = load_uci(dataset)
    X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=TEST_SHARE, random_state=split)
    parts = train_test_split(X, y, test_size=CALIBRATION_SHARE, random_state=split)
    X_fit, X_val, y_fit, y_val = parts
    settings = varied(arguments(METHOD, preset, len(X_fit)), variant, len(X_fit))
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


def varied(settings: dict[str, Any], variant: str, num_rows: int) -> dict[str, Any]:
    """Return the arguments of a preset with Step 1 untrained, or with the term Γ of pSGLD."""
    if variant == "trained":
        return settings
    if variant == "untrained":
        return settings | UNTRAINED
    engine = settings.get("inference") or PSGLD.for_rows(num_rows)
    return settings | {"inference": replace(engine, correction=True)}


def bench_rounds(
    datasets: Sequence[str],
    variants: Sequence[str],
    num_rounds: int,
    num_splits: int,
    preset: str,
    path: Path,
    folder: Path,
    console: Console,
) -> list[Row]:
    """Score every step of every variant; print the table, draw a figure of each data set."""
    require_whole("rounds", num_rounds, 1)
    require_whole("splits", num_splits, 1)
    require_one_of("preset", preset, UCI_PRESETS)
    for variant in variants:
        require_one_of("variants", variant, VARIANTS)
    if not datasets or not variants:
        raise ValueError(
            "The study needs at least one data set and one variant. "
            f"Got {len(datasets)} and {len(variants)}."
        )
    for name in datasets:
        load_uci(name)  # a missing file stops the command before the first fit
    rows = run_cases(
        ResultsFile(path, stamp("rounds", preset=preset, rounds=num_rounds)),
        [
            {"dataset": name, "variant": variant, "split": split}
            for split in range(num_splits)
            for name in datasets
            for variant in variants
        ],
        partial(score_steps, preset, num_rounds),
        console,
    )
    print_sheet(rounds_sheet(rows), console)
    for name in datasets:
        first = {row["variant"]: row for row in rows if (row["dataset"], row["split"]) == (name, 0)}
        curves = {variant: row["steps"] for variant, row in first.items()}
        figure = plot_steps(curves, "validation_nll", FIELDS["validation_nll"])
        print_lines(console, f"Figure: {save_figure(figure, folder, f'rounds-{name}')[0]}")
    print_lines(console, f"Rows: {path}")
    return rows


def rounds_sheet(rows: Sequence[Row]) -> Sheet:
    """Return the means over splits: a row for every data set, variant and step."""
    steps = [
        {"dataset": row["dataset"], "variant": row["variant"], **s}
        for row in rows
        for s in row["steps"]
    ]
    keys = ["dataset", "variant", "step"]
    groups = pandas.DataFrame(steps).groupby(keys, sort=False)
    means = groups[list(FIELDS)].mean().groupby(level=keys[:2], sort=False)
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
