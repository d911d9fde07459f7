"""The paper's N-sweeps: mean, noise and epistemic uncertainty from 5 to 500 points."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas
from rich.console import Console

from vebnn.bench.figures.convergence import plot_convergence
from vebnn.bench.methods import METHODS, find_method
from vebnn.bench.render.sheet import MISSING, Sheet, cells
from vebnn.bench.render.terminal import print_lines, print_sheet
from vebnn.bench.results import ResultsFile, Row, run_cases, stamp
from vebnn.core.arguments import require_one_of, require_whole
from vebnn.datasets.toy import DATA_RANGE, NoiseKind, load_toy, true_mean, true_noise_std
from vebnn.datasets.toy_score import NUM_OUTSIDE, observe_outside
from vebnn.metrics import log_likelihood, rmse
from vebnn.plots import save_figure

SIZES: dict[str, tuple[int, ...]] = {
    "heteroscedastic": (5, 10, 20, 50, 100, 200, 500),
    "homoscedastic": (5, 10, 20, 50, 100, 200),
}
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


def score_size(noise: NoiseKind, method: str, num_rows: int, seed: int) -> Row:
    """Fit one method to so many rows of one seed; return the four numbers of the paper's figure."""
    data = load_toy(num_rows, noise, random_state=seed)
    model = METHODS[method].make(random_state=seed).fit(data.X, data.y)
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
    }


def bench_sweep(
    noises: Sequence[str],
    names: Sequence[str],
    num_seeds: int,
    path: Path,
    folder: Path,
    console: Console,
) -> list[Row]:
    """Run every method on every size and seed; print a table and draw a figure per kind of noise.

    Arguments are those of ``vebnn bench sweep``; without ``names``, the methods of the paper's figures.
    """
    require_whole("seeds", num_seeds, 1)
    for noise in noises:
        require_one_of("noise", noise, tuple(SIZES))
    rows = []
    for noise in noises:
        methods = [find_method(name).name for name in names or DEFAULT_METHODS[noise]]
        some = run_cases(
            ResultsFile(path, stamp("sweep", num_test=NUM_OUTSIDE)),
            [
                {"noise": noise, "method": method, "num_rows": size, "seed": seed}
                for size in SIZES[noise]
                for method in methods
                for seed in range(num_seeds)
            ],
            score_size,
            console,
        )
        print_sheet(medians_sheet(noise, some), console)
        figure = plot_convergence(some, "num_rows", PANELS, "training points")
        print_lines(console, f"Figure: {save_figure(figure, folder, f'sweep-{noise}')[0]}")
        rows += some
    print_lines(console, f"Rows: {path}")
    return rows


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
