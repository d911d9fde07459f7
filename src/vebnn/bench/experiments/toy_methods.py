"""All methods on the one-dimensional example: cooperative against joint training, per engine."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from rich.console import Console

from vebnn.bench.experiments.toy import NUM_ROWS
from vebnn.bench.figures.curve import curve_of
from vebnn.bench.figures.strategies import plot_strategies
from vebnn.bench.methods import ALL, ENGINE_NAMES, METHODS, find_method
from vebnn.bench.render.sheet import Sheet, cells
from vebnn.bench.render.terminal import print_lines, print_sheet
from vebnn.bench.results import ResultsFile, Row, run_cases, stamp
from vebnn.core.arguments import require_whole
from vebnn.datasets.toy import PLOT_RANGE, load_toy
from vebnn.datasets.toy_score import NUM_FRESH, score_toy
from vebnn.plots import save_figure

CURVE_AT = np.linspace(*PLOT_RANGE, 181)

COLUMNS = {
    "mean_rmse": "RMSE",
    "noise_error": "noise error",
    "tll_inside": "TLL inside",
    "tll_outside": "outside",
    "coverage": "coverage",
    "epistemic_inside": "epist. inside",
    "epistemic_outside": "outside",
    "outside_coverage": "truth outside",
    "seconds": "seconds",
}


def score_method(method: str, seed: int) -> Row:
    """Fit one method to the data of one seed; return its scores and its curve for the figure."""
    data = load_toy(NUM_ROWS, random_state=seed)
    model = METHODS[method].make(random_state=seed).fit(data.X, data.y)
    curve = curve_of(model.predict_distribution(CURVE_AT[:, None]))
    return {**score_toy(model.predict_distribution, seed)._asdict(), "curve": curve}


def bench_methods(
    names: Sequence[str], num_seeds: int, path: Path, folder: Path, console: Console
) -> list[Row]:
    """Score methods on seeds 0, 1, …, print the table, draw the figure, return the rows."""
    require_whole("seeds", num_seeds, 1)
    if not names:
        raise ValueError("The comparison needs at least one method, or all. Got none.")
    wanted = ALL if [name.casefold() for name in names] == ["all"] else names
    methods = [find_method(name).name for name in wanted]
    rows = run_cases(
        ResultsFile(path, stamp("toy methods", num_rows=NUM_ROWS, num_fresh=NUM_FRESH)),
        [{"method": method, "seed": seed} for method in methods for seed in range(num_seeds)],
        score_method,
        console,
    )
    means = pandas.DataFrame(rows).groupby("method", sort=False)[list(COLUMNS)].mean()
    print_sheet(means_sheet(means), console)
    print_lines(console, *noise_errors(means["noise_error"]))
    pairs = _pairs({row["method"]: row["curve"] for row in rows if row["seed"] == 0})
    if pairs:
        figure = plot_strategies(CURVE_AT, pairs, load_toy(NUM_ROWS, random_state=0))
        print_lines(console, f"Figure: {save_figure(figure, folder, 'strategies')[0]}")
    print_lines(console, f"Rows: {path}")
    return rows


def means_sheet(means: pandas.DataFrame) -> Sheet:
    """Return a row per method."""
    return Sheet(
        f"Toy: {NUM_ROWS} points in [0, 10], default settings of every method",
        "Means over seeds. RMSE: of the mean on [0, 10]. Noise error: mean relative error of the "
        "aleatoric std. TLL: of fresh observations in [0, 10], and in [−4, 0] and [10, 14]. Coverage: "
        "of 95 % intervals. Epistemic std: on [0, 10] and [13, 14].",
        ("method", *COLUMNS.values()),
        [[cells(name, *(f"{value:.3g}" for value in line)) for name, line in means.iterrows()]],
    )


def noise_errors(errors: Mapping[Any, float]) -> list[str]:
    """Return the engines with which VeBNN has the smaller noise error, and those with the larger."""
    words: dict[str, list[str]] = {"better": [], "worse": []}
    for engine, (joint, cooperative) in _pairs(errors).items():
        verdict = "better" if cooperative < joint else "worse"
        words[verdict].append(f"{engine} ({cooperative:.3f} against {joint:.3f})")
    return [
        f"Noise error, VeBNN {verdict} than its joint counterpart: {', '.join(engines)}."
        for verdict, engines in words.items()
        if engines
    ]


def _pairs(by_name: Mapping[Any, Any]) -> dict[str, tuple[Any, Any]]:
    """Return (joint, cooperative) for every engine that both strategies were run with."""
    pairs = {
        engine: (by_name.get(f"MVE ({engine})"), by_name.get(f"VeBNN ({engine})"))
        for engine in ENGINE_NAMES
    }
    return {engine: pair for engine, pair in pairs.items() if None not in pair}
