"""All methods on the one-dimensional example: cooperative against joint training, per engine."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from matplotlib.figure import Figure
from rich.console import Console

from vebnn.bench.experiments.toy import NUM_ROWS
from vebnn.bench.experiments.toy_settings import TOY_PRESETS, make_toy_model, preset_stamp
from vebnn.bench.figures.curve import curve_of, plot_curves
from vebnn.bench.figures.strategies import plot_strategies
from vebnn.bench.methods import ALL, ENGINE_NAMES, find_method
from vebnn.bench.render.sheet import Sheet, cells
from vebnn.bench.render.terminal import print_lines, print_sheet
from vebnn.bench.results import ResultsFile, Row, run_cases, stamp
from vebnn.bench.steps import fit_by_steps
from vebnn.core.arguments import require_one_of, require_whole
from vebnn.datasets.toy import PLOT_RANGE, load_toy, true_mean, true_noise_std
from vebnn.datasets.toy_score import NUM_FRESH, score_toy
from vebnn.plots import save_figure
from vebnn.plots.steps import readable_limits
from vebnn.prediction import Prediction

CURVE_AT = np.linspace(*PLOT_RANGE, 181)
MEAN, NOISE = "Step 1", "Round 1 · Step 2"  # the steps of the paper's canonical example
BETA_NLL = "MVE (β-NLL=0.5)"

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


def score_method(preset: str, method: str, seed: int) -> Row:
    """Fit one method to the data of one seed; return its scores and its curve for the figure.

    The row of the first seed of VeBNN also has its curves after the first steps.
    """
    data = load_toy(NUM_ROWS, random_state=seed)
    model = make_toy_model(method, preset, seed)
    steps = fit_by_steps(model, _curve, data.X, data.y)
    scores = score_toy(model.predict_distribution, seed)._asdict()
    first = [one for one in steps if one["step"] in (MEAN, NOISE)]
    more = {"steps": first} if first and seed == 0 else {}
    return {**scores, **_curve(model.predict_distribution), **more}


def _curve(predict: Callable[..., Prediction]) -> Row:
    return {"curve": curve_of(predict(CURVE_AT[:, None]))}


def bench_methods(
    names: Sequence[str],
    num_seeds: int,
    path: Path,
    folder: Path,
    console: Console,
    preset: str = "standard",
) -> list[Row]:
    """Score methods on seeds 0, 1, …, print the table, draw the figure, return the rows."""
    require_whole("seeds", num_seeds, 1)
    require_one_of("preset", preset, TOY_PRESETS)
    if not names:
        raise ValueError("The comparison needs at least one method, or all. Got none.")
    wanted = ALL if [name.casefold() for name in names] == ["all"] else names
    methods = [find_method(name).name for name in wanted]
    settings = {"num_rows": NUM_ROWS, "num_fresh": NUM_FRESH, **preset_stamp(preset)}
    rows = run_cases(
        ResultsFile(path, stamp("toy methods", **settings)),
        [{"method": method, "seed": seed} for method in methods for seed in range(num_seeds)],
        partial(score_method, preset),
        console,
    )
    print_sheet(methods_sheet(rows), console)
    for name, figure in figures_of(rows).items():
        stem = name if preset == "standard" else f"{name}-{preset}"
        print_lines(console, f"Figure: {save_figure(figure, folder, stem)[0]}")
    print_lines(console, f"Rows: {path}")
    return rows


def figures_of(rows: Sequence[Row]) -> dict[str, Figure]:
    """Return the paper's figures of the first seed whose methods were run.

    One has every engine, joint and cooperative. The other sets a network with β-NLL beside the first
    two steps of VeBNN: a mean network alone, then its noise.
    """
    first = {row["method"]: row for row in rows if row["seed"] == 0}
    figures = {}
    pairs = _pairs({name: row["curve"] for name, row in first.items()})
    if pairs:
        data = load_toy(NUM_ROWS, random_state=0)
        figures["strategies"] = plot_strategies(CURVE_AT, pairs, data)
    steps = [row["steps"] for row in first.values() if "steps" in row]
    if steps and BETA_NLL in first:
        alone, noise = (one["curve"] for one in steps[0])
        curves = {BETA_NLL: first[BETA_NLL]["curve"], "mean network": alone, "and variance": noise}
        truth = true_mean(CURVE_AT), true_noise_std(CURVE_AT)
        limits = readable_limits(CURVE_AT, load_toy(NUM_ROWS, random_state=0))
        figures["beta-nll"] = plot_curves({"y": curves}, CURVE_AT, truth, "x", limits)
    return figures


def methods_sheet(rows: Sequence[Row]) -> Sheet:
    """Return a row per method."""
    means = pandas.DataFrame(rows).groupby("method", sort=False)[list(COLUMNS)].mean()
    preset = rows[0].get("settings", {}).get("preset")
    how = "default settings of every method" if preset is None else f"preset {preset}"
    return Sheet(
        f"Toy: {NUM_ROWS} points in [0, 10], {how}",
        "Means over seeds. RMSE: of the mean on [0, 10]. Noise error: mean relative error of the "
        "aleatoric std. TLL: of fresh observations in [0, 10], and in [−4, 0] and [10, 14]. Coverage: "
        "of 95 % intervals. Epistemic std: on [0, 10] and [13, 14].",
        ("method", *COLUMNS.values()),
        [[cells(name, *(f"{value:.3g}" for value in line)) for name, line in means.iterrows()]],
        noise_errors(means["noise_error"]),
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
