"""The paper's N-sweeps: how mean, noise and ignorance converge as the one-dimensional data grow."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from vebnn.bench.experiments.toy import NUM_TEST, observe_outside
from vebnn.bench.figures.convergence import PANELS, Series, plot_convergence
from vebnn.bench.methods import METHODS, Method, find_method
from vebnn.bench.results import ResultsFile, Row, run_cases, stamp, wide_table
from vebnn.core.arguments import require_one_of, require_whole
from vebnn.datasets.toy import DATA_RANGE, NoiseKind, load_toy, true_mean, true_noise_std
from vebnn.metrics import log_likelihood, rmse
from vebnn.plots import save_figure

SIZES: dict[NoiseKind, tuple[int, ...]] = {
    "heteroscedastic": (5, 10, 20, 50, 100, 200, 500),
    "homoscedastic": (5, 10, 20, 50, 100, 200),
}
# Those of the paper's figures.
DEFAULT_METHODS: dict[NoiseKind, tuple[str, ...]] = {
    "heteroscedastic": ("MVE (β-NLL=0.5)", "MVE (pSGLD)", "VeBNN (pSGLD)"),
    "homoscedastic": ("MVE (β-NLL=0.5)", "BNN-Homo (pSGLD)", "MVE (pSGLD)", "VeBNN (pSGLD)"),
}


def score_size(method: Method, noise: NoiseKind, num_rows: int, seed: int) -> Row:
    """Fit one method to so many rows of one seed; return the four numbers of the paper's figure."""
    data = load_toy(num_rows, noise, random_state=seed)
    model = method.make(random_state=seed).fit(data.X, data.y)
    # A second word in the seed: never the numbers the training data were drawn with.
    rng = np.random.default_rng([seed, 2])
    x = rng.uniform(*DATA_RANGE, NUM_TEST)
    inside = model.predict_distribution(x[:, None])
    x_far, y_far = observe_outside(noise, rng)
    far = model.predict_distribution(x_far[:, None])
    ignorance = None
    if far.epistemic_variance.all():  # a single network claims to know all: no such density
        ignorance = log_likelihood(true_mean(x_far), far.mean, far.epistemic_variance)
    return {
        "mean_rmse": rmse(true_mean(x), inside.mean),
        "noise_rmse": rmse(true_noise_std(x, noise), inside.aleatoric_std),
        "epistemic_tll": ignorance,
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
    """Run every method on every size and seed; print the tables, draw a figure per kind of noise.

    Args:
      noises: ``"heteroscedastic"``, ``"homoscedastic"`` or both.
      names: of the methods; none takes those of the paper's figures.
      num_seeds: seeds 0, 1, ….
      path: file of rows; finished ones are not run again.
      folder: for the figures.
      console: where the progress bar and the tables go.
    """
    require_whole("seeds", num_seeds, 1)
    for noise in noises:
        require_one_of("noise", noise, tuple(SIZES))
    rows = []
    for noise in noises:
        methods = [find_method(name) for name in names or DEFAULT_METHODS[noise]]  # type: ignore[index]
        some = run_cases(
            ResultsFile(path, stamp("sweep", num_test=NUM_TEST)),
            [
                {"noise": noise, "method": method.name, "num_rows": size, "seed": seed}
                for size in SIZES[noise]  # type: ignore[index]
                for method in methods
                for seed in range(num_seeds)
            ],
            lambda case: score_size(
                METHODS[case["method"]], case["noise"], case["num_rows"], case["seed"]
            ),
            console,
            lambda case: f"{case['noise']} · {case['num_rows']} rows · {case['method']}",
        )
        console.print(sweep_table(noise, some))
        picture, _ = save_figure(plot_convergence(series_of(some)), folder, f"sweep-{noise}")
        console.print(f"Figure: {picture}", highlight=False, soft_wrap=True)
        rows += some
    console.print(f"Rows: {path}", highlight=False, soft_wrap=True)
    return rows


def series_of(rows: Sequence[Row]) -> list[Series]:
    """Return one series per method: its numbers by size and seed."""
    found = []
    for name in dict.fromkeys(row["method"] for row in rows):
        mine = [row for row in rows if row["method"] == name]
        sizes = np.unique([row["num_rows"] for row in mine])
        by_size = [[row for row in mine if row["num_rows"] == size] for size in sizes]
        values = {
            panel: np.array([[row[panel] for row in group] for group in by_size], float)  # None is NaN
            for panel in PANELS
        }
        found.append(Series(name, sizes, values))
    return found


def sweep_table(noise: str, rows: Sequence[Row]) -> Table:
    """Return a line per size and method, medians over seeds."""
    table = wide_table(
        title=f"Toy, {noise} noise: medians over seeds",
        caption=(
            "RMSE of the mean and of the noise std: on [0, 10]. TLL of the truth under the epistemic "
            "part, and of fresh observations under the whole: in [−4, 0] and [10, 14]."
        ),
        columns=("method", "rows", *PANELS.values()),
    )
    all_series = series_of(rows)
    for at, size in enumerate(all_series[0].sizes):
        for series in all_series:
            medians = (np.median(series.values[panel][at]) for panel in PANELS)
            words = ("–" if np.isnan(median) else f"{median:.3g}" for median in medians)
            table.add_row(series.name, str(size), *words)
        table.add_section()
    return table
