"""All methods on the one-dimensional example: does training in cooperation beat training jointly?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from vebnn.bench.experiments import toy
from vebnn.bench.figures.curve import Curve
from vebnn.bench.figures.strategies import plot_strategies
from vebnn.bench.methods import ALL, ENGINE_NAMES, METHODS, Method, find_method
from vebnn.bench.results import ResultsFile, Row, average, run_cases, stamp, wide_table
from vebnn.datasets.toy import PLOT_RANGE, load_toy
from vebnn.estimators import Regressor
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
    "seconds": "seconds",
}


def find_methods(names: Sequence[str]) -> list[Method]:
    """Return the methods of some names; ``all`` stands for every one."""
    if not names:
        raise ValueError("The comparison needs at least one method, or all. Got none.")
    wanted = ALL if [name.casefold() for name in names] == ["all"] else names
    return [find_method(name) for name in wanted]


def score_method(method: Method, seed: int) -> Row:
    """Fit one method to the data of one seed; return the numbers and curves of its row."""
    data = load_toy(toy.NUM_ROWS, random_state=seed)
    model = method.make(random_state=seed).fit(data.X, data.y)
    return {**toy.score(model, seed)._asdict(), "curve": curve_of(model)}


def curve_of(model: Regressor) -> dict[str, list[float]]:
    """Return what a model says along the plotted range, for the figure."""
    prediction = model.predict_distribution(CURVE_AT[:, None])
    parts = (prediction.mean, prediction.aleatoric_std, prediction.epistemic_std)
    return {
        name: [float(f"{value:.4g}") for value in part]
        for name, part in zip(Curve._fields, parts, strict=True)
    }


def bench_methods(
    names: Sequence[str], num_seeds: int, path: Path, folder: Path, console: Console
) -> list[Row]:
    """Score methods on seeds 0, 1, …, print the table, draw the figure, return the rows."""
    if num_seeds < 1:
        raise ValueError(f"The number of seeds must be at least 1. Got {num_seeds}.")
    methods = find_methods(names)
    rows = run_cases(
        ResultsFile(path, stamp("toy methods", num_rows=toy.NUM_ROWS, num_fresh=toy.NUM_FRESH)),
        [{"method": one.name, "seed": seed} for one in methods for seed in range(num_seeds)],
        lambda case: score_method(METHODS[case["method"]], case["seed"]),
        console,
        lambda case: f"{case['method']} · seed {case['seed']}",
    )
    console.print(methods_table(rows))
    for line in verdict(rows):
        console.print(line, highlight=False, soft_wrap=True)
    curves = {
        row["method"]: Curve(*(np.asarray(row["curve"][name]) for name in Curve._fields))
        for row in rows
        if row["seed"] == 0
    }
    pairs = {engine: pair for engine, pair in _pairs(curves).items() if pair}
    if pairs:
        figure = plot_strategies(CURVE_AT, pairs, load_toy(toy.NUM_ROWS, random_state=0))
        picture, _ = save_figure(figure, folder, "strategies")
        console.print(f"Figure: {picture}", highlight=False, soft_wrap=True)
    console.print(f"Rows: {path}", highlight=False, soft_wrap=True)
    return rows


def methods_table(rows: Sequence[Row]) -> Table:
    """Return a line per method, means over seeds."""
    table = wide_table(
        title=f"Toy: {toy.NUM_ROWS} points in [0, 10], default settings of every method",
        caption=(
            "Means over seeds. RMSE: of the mean on [0, 10]. Noise error: mean relative error of the "
            "aleatoric std. TLL: of fresh observations in [0, 10], and in [−4, 0] and [10, 14]. "
            "Coverage: of 95 % intervals. Epistemic std: on [0, 10] and [13, 14]."
        ),
        columns=("method", *COLUMNS.values()),
    )
    for name, group in _by_method(rows).items():
        table.add_row(name, *(f"{average(group, field):.3g}" for field in COLUMNS))
    return table


def verdict(rows: Sequence[Row]) -> list[str]:
    """Say for which engines cooperation has the smaller noise error, and for which not."""
    errors = {name: average(group, "noise_error") for name, group in _by_method(rows).items()}
    won: list[str] = []
    lost: list[str] = []
    for engine, pair in _pairs(errors).items():
        if pair:
            joint, cooperative = pair
            words = f"{engine} ({cooperative:.3f} against {joint:.3f})"
            (won if cooperative < joint else lost).append(words)
    lines = []
    if won:
        lines.append(f"Noise error, VeBNN better than its joint counterpart: {', '.join(won)}.")
    if lost:
        lines.append(f"Noise error, VeBNN worse than its joint counterpart: {', '.join(lost)}.")
    return lines


def _by_method(rows: Sequence[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["method"], []).append(row)
    return groups


def _pairs(by_name: dict[str, Any]) -> dict[str, tuple[Any, Any] | None]:
    """Return (joint, cooperative) for every engine that both strategies were run with."""
    names = {engine: (f"MVE ({engine})", f"VeBNN ({engine})") for engine in ENGINE_NAMES}
    return {
        engine: (by_name[joint], by_name[cooperative])
        if joint in by_name and cooperative in by_name
        else None
        for engine, (joint, cooperative) in names.items()
    }
