"""The paper's N-sweeps: mean, noise and epistemic uncertainty from 5 to 500 points."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import pandas
from matplotlib.figure import Figure
from rich.console import Console

from vebnn.bench.experiments.toy_methods import CURVE_AT
from vebnn.bench.experiments.toy_settings import TOY_PRESETS, make_toy_model, preset_stamp
from vebnn.bench.figures.convergence import plot_convergence
from vebnn.bench.figures.curve import Curve, curve_of, plot_curves
from vebnn.bench.methods import find_method
from vebnn.bench.render.sheet import MISSING, Sheet, cells
from vebnn.bench.render.terminal import print_lines, print_sheet
from vebnn.bench.results import ResultsFile, Row, run_cases, stamp
from vebnn.core.arguments import require_one_of, require_whole
from vebnn.datasets.toy import DATA_RANGE, NoiseKind, load_toy, true_mean, true_noise_std
from vebnn.datasets.toy_score import NUM_OUTSIDE, observe_outside
from vebnn.metrics import log_likelihood, rmse
from vebnn.plots import save_figure
from vebnn.plots.steps import readable_limits

SIZES: dict[str, tuple[int, ...]] = {
    "heteroscedastic": (5, 10, 20, 50, 100, 200, 500),
    "homoscedastic": (5, 10, 20, 50, 100, 200),
}
SHOWN = (5, 20, 50, 200)  # of the figure of fits
# Those of the paper's figures.
DEFAULT_METHODS: dict[str, tuple[str, ...]] = {
    "heteroscedastic": ("MVE (β-NLL=0.5)", "MVE (pSGLD)", "VeBNN (pSGLD)"),
    "homoscedastic": ("MVE (β-NLL=0.5)", "BNN-Homo (pSGLD)", "MVE (pSGLD)", "VeBNN (pSGLD)"),
}
PANELS = {
    "mean_rmse": "RMSE of the mean",
    "noise_rmse": "RMSE of the noise std",
    "epistemic_tll": "epistemic TLL outside",
    "total_tll": "total TLL outside",
}


def score_size(preset: str, noise: NoiseKind, method: str, num_rows: int, seed: int) -> Row:
    """Fit one method to so many rows of one seed; return the four numbers of the paper's figure.

    The row of the first seed also has the curve.
    """
    data = load_toy(num_rows, noise, random_state=seed)
    model = make_toy_model(method, preset, seed).fit(data.X, data.y)
    # The second number keeps this stream apart from that of the training data.
    rng = np.random.default_rng([seed, 2])
    x = rng.uniform(*DATA_RANGE, NUM_OUTSIDE)
    inside = model.predict_distribution(x[:, None])
    x_far, y_far = observe_outside(noise, rng)
    far = model.predict_distribution(x_far[:, None])
    epistemic_tll = None
    if far.epistemic_variance.all():  # a single network has none, and no such density
        epistemic_tll = log_likelihood(true_mean(x_far), far.mean, far.epistemic_variance)
    return {
        "mean_rmse": rmse(true_mean(x), inside.mean),
        "noise_rmse": rmse(true_noise_std(x, noise), inside.aleatoric_std),
        "epistemic_tll": epistemic_tll,
        "total_tll": log_likelihood(y_far, far.mean, far.variance),
        **({} if seed else {"curve": curve_of(model.predict_distribution(CURVE_AT[:, None]))}),
    }


def bench_sweep(
    noises: Sequence[str],
    names: Sequence[str],
    num_seeds: int,
    path: Path,
    folder: Path,
    console: Console,
    preset: str = "standard",
) -> list[Row]:
    """Run every method on every size and seed; print a table and draw a figure per kind of noise.

    Arguments are those of ``vebnn bench sweep``; without ``names``, the methods of the paper's figures.
    """
    require_whole("seeds", num_seeds, 1)
    for noise in noises:
        require_one_of("noise", noise, tuple(SIZES))
    require_one_of("preset", preset, TOY_PRESETS)
    rows = []
    for noise in noises:
        methods = [find_method(name).name for name in names or DEFAULT_METHODS[noise]]
        some = run_cases(
            ResultsFile(path, stamp("sweep", num_test=NUM_OUTSIDE, **preset_stamp(preset))),
            [
                {"noise": noise, "method": method, "num_rows": size, "seed": seed}
                for size in SIZES[noise]
                for method in methods
                for seed in range(num_seeds)
            ],
            partial(score_size, preset),
            console,
        )
        print_sheet(medians_sheet(noise, some), console)
        stem = f"sweep-{noise}" if preset == "standard" else f"sweep-{noise}-{preset}"
        for name, figure in sweep_figures(cast(NoiseKind, noise), some).items():
            print_lines(console, f"Figure: {save_figure(figure, folder, f'{stem}{name}')[0]}")
        rows += some
    print_lines(console, f"Rows: {path}")
    return rows


def sweep_figures(noise: NoiseKind, rows: Sequence[Row]) -> dict[str, Figure]:
    """Return the scores against the number of points, and some fits of the first seed."""
    curves: dict[str, dict[str, Curve]] = {}
    for row in rows:
        if row["seed"] == 0 and row["num_rows"] in SHOWN:
            curves.setdefault(f"{row['num_rows']} points", {})[row["method"]] = row["curve"]
    truth = true_mean(CURVE_AT), true_noise_std(CURVE_AT, noise)
    limits = readable_limits(CURVE_AT, load_toy(SHOWN[-1], noise))
    return {
        "": plot_convergence(rows, "num_rows", PANELS, "training points"),
        "-fits": plot_curves(curves, CURVE_AT, truth, "x", limits),
    }


def medians_sheet(noise: str, rows: Sequence[Row]) -> Sheet:
    """Return a row per size and method."""
    frame = pandas.DataFrame(rows).astype(dict.fromkeys(PANELS, float))
    medians = frame.groupby(["num_rows", "method"], sort=False)[list(PANELS)].median()

    def line(method: str, size: int, values: pandas.Series) -> list:
        numbers = (MISSING if np.isnan(value) else f"{value:.3g}" for value in values)
        return cells(method, str(size), *numbers)

    return Sheet(
        f"Toy, {noise} noise: medians over seeds",
        "RMSE of the mean and of the noise std: on [0, 10]. TLL of the true mean under the epistemic "
        "variance, and of fresh observations under the total variance: in [−4, 0] and [10, 14].",
        ("method", "rows", *PANELS.values()),
        [
            [line(method, size, values) for (_, method), values in group.iterrows()]
            for size, group in medians.groupby("num_rows", sort=False)
        ],
    )
