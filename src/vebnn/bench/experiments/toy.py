"""The default model on the paper's one-dimensional example, against the truth and an oracle."""

from pathlib import Path

import pandas
from rich.console import Console
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from vebnn.bench.render.limits import Column, limits_sheet
from vebnn.bench.render.sheet import Sheet
from vebnn.bench.render.terminal import print_lines, print_sheet
from vebnn.bench.results import ResultsFile, Row, r_hat, run_cases, stamp
from vebnn.core.arguments import require_whole
from vebnn.datasets.toy import Toy, load_toy, true_mean, true_noise_std
from vebnn.datasets.toy_score import INSIDE, NUM_FRESH, score_toy
from vebnn.estimators import VeBNNRegressor
from vebnn.metrics import rmse

NUM_ROWS = 200
COLUMNS = {
    "mean_rmse": Column("RMSE"),
    "oracle_rmse": Column("oracle"),
    "rmse_ratio": Column("ratio", high=1.0),
    "noise_error": Column("noise error", high=0.12),
    "coverage": Column("coverage", low=0.94, high=0.96),
    "epistemic_inside": Column("inside"),
    "epistemic_outside": Column("outside", ".1f"),
    "epistemic_ratio": Column("ratio", ".1f", low=3),
    "outside_coverage": Column("truth outside", low=0.8),
    "seconds": Column("seconds", ".1f"),
}


def oracle_rmse(data: Toy, seed: int) -> float:
    """Return the RMSE on [0, 10] of a Gaussian process with the true noise.

    Its kernel is a constant times a squared exponential, both found by maximum marginal likelihood
    from several starts.
    """
    kernel = ConstantKernel(10.0, (1e-2, 1e4)) * RBF(1.0, (1e-1, 1e2))
    noise = true_noise_std(data.X[:, 0]) ** 2
    process = GaussianProcessRegressor(kernel, alpha=noise, n_restarts_optimizer=4, random_state=seed)
    return rmse(true_mean(INSIDE), process.fit(data.X, data.y).predict(INSIDE[:, None]))


def score_seed(seed: int) -> Row:
    """Fit the default model to the data of one seed; return the numbers of its row."""
    data = load_toy(NUM_ROWS, random_state=seed)
    model = VeBNNRegressor(random_state=seed).fit(data.X, data.y)
    found = score_toy(model.predict_distribution, seed)
    oracle = oracle_rmse(data, seed)
    return {
        **found._asdict(),
        "epistemic_ratio": found.epistemic_ratio,
        "oracle_rmse": oracle,
        "rmse_ratio": found.mean_rmse / oracle,
        "r_hat": r_hat(model),
    }


def bench_toy(num_seeds: int, path: Path, console: Console) -> list[Row]:
    """Score seeds 0, 1, …, print the table and return the rows; finished seeds are not run again."""
    require_whole("seeds", num_seeds, 1)
    settings = {"model": "VeBNNRegressor()", "num_rows": NUM_ROWS, "num_fresh": NUM_FRESH}
    file = ResultsFile(path, stamp("toy", **settings))
    rows = run_cases(file, [{"seed": seed} for seed in range(num_seeds)], score_seed, console)
    print_sheet(seeds_sheet(rows), console)
    print_lines(console, f"Rows: {path}")
    return rows


def seeds_sheet(rows: list[Row]) -> Sheet:
    """Return the table of seeds, means and limits."""
    means = pandas.DataFrame(rows)[list(COLUMNS)].mean()
    # The ratio of the means: a seed on which the oracle is lucky does not count more.
    means["rmse_ratio"] = means["mean_rmse"] / means["oracle_rmse"]
    return limits_sheet(
        f"Toy: {NUM_ROWS} points in [0, 10], default settings",
        "RMSE: of the mean on [0, 10]. Oracle: RMSE of a Gaussian process with the true noise. Noise "
        "error: mean relative error of the aleatoric std. Coverage: of 95 % intervals, on fresh data. "
        "Inside, outside: mean epistemic std on [0, 10] and [13, 14]. Truth outside: share of true "
        "means in [−4, 0] and [10, 14] inside their epistemic 95 % interval.",
        COLUMNS,
        rows,
        means,
    )
