"""The paper's one-dimensional example, where truth and noise are known: demo and benchmark."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from vebnn.bench.results import (
    ResultsFile,
    Row,
    average,
    r_hat,
    run_cases,
    stamp,
    wide_table,
)
from vebnn.datasets.toy import (
    DATA_RANGE,
    PLOT_RANGE,
    NoiseKind,
    Toy,
    load_toy,
    observe,
    true_mean,
    true_noise_std,
)
from vebnn.estimators import Regressor, VeBNNRegressor
from vebnn.metrics import coverage, log_likelihood, mean_relative_error, rmse

NUM_ROWS = 200
NUM_FRESH = 10_000
LEVEL = 0.95
INSIDE = np.linspace(*DATA_RANGE, 501)
OUTSIDE = np.linspace(PLOT_RANGE[1] - 1, PLOT_RANGE[1], 51)
NUM_TEST = 1_000  # inside, and as many outside, as in the paper's appendix


class Score(NamedTuple):
    """How a fitted model compares with the truth, in the units of y."""

    mean_rmse: float  # predicted mean against x sin x, on [0, 10]
    noise_error: float  # mean relative error of the aleatoric std, on [0, 10]
    coverage: float  # share of fresh observations in [0, 10] inside their 95 % interval
    epistemic_inside: float  # mean epistemic std on [0, 10]
    epistemic_outside: float  # mean epistemic std on [13, 14]
    tll_inside: float  # log-likelihood of fresh observations in [0, 10]
    tll_outside: float  # the same in [−4, 0] and [10, 14]

    @property
    def epistemic_ratio(self) -> float:
        """How much less the model claims to know where it has seen no data."""
        return self.epistemic_outside / self.epistemic_inside


class Limit(NamedTuple):
    """What a number of the benchmark must be, on average over seeds."""

    low: float
    high: float

    def __str__(self) -> str:
        if self.low == -np.inf:
            return f"≤ {self.high:g}"
        return f"≥ {self.low:g}" if self.high == np.inf else f"{self.low:g}–{self.high:g}"

    def holds(self, value: float) -> bool:
        """Say whether a number is within the limit."""
        return self.low <= value <= self.high


LIMITS = {
    "rmse_ratio": Limit(-np.inf, 1.35),
    "noise_error": Limit(-np.inf, 0.18),
    "coverage": Limit(0.93, 0.97),
    "epistemic_ratio": Limit(3, np.inf),
}


def score(model: Regressor, seed: int) -> Score:
    """Compare a fitted model with the truth; ``seed`` draws the fresh observations."""
    inside = model.predict_distribution(INSIDE[:, None])
    outside = model.predict_distribution(OUTSIDE[:, None])
    # A second word in the seed: never the numbers the training data were drawn with.
    rng = np.random.default_rng([seed, 1])
    x = rng.uniform(*DATA_RANGE, NUM_FRESH)
    y = observe(x, "heteroscedastic", rng)
    fresh = model.predict_distribution(x[:, None])
    x_far, y_far = observe_outside("heteroscedastic", rng)
    far = model.predict_distribution(x_far[:, None])
    return Score(
        mean_rmse=rmse(true_mean(INSIDE), inside.mean),
        noise_error=mean_relative_error(true_noise_std(INSIDE), inside.aleatoric_std),
        coverage=coverage(y, *fresh.interval(LEVEL)),
        epistemic_inside=float(inside.epistemic_std.mean()),
        epistemic_outside=float(outside.epistemic_std.mean()),
        tll_inside=log_likelihood(y, fresh.mean, fresh.variance),
        tll_outside=log_likelihood(y_far, far.mean, far.variance),
    )


def observe_outside(noise: NoiseKind, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw inputs and observations from the plotted range on both sides of the data."""
    x = rng.uniform(PLOT_RANGE[0], PLOT_RANGE[1] - (DATA_RANGE[1] - DATA_RANGE[0]), NUM_TEST)
    x = np.where(x < DATA_RANGE[0], x, x + DATA_RANGE[1] - DATA_RANGE[0])
    return x, observe(x, noise, rng)


def oracle_rmse(data: Toy, seed: int) -> float:
    """Return the RMSE on [0, 10] of a Gaussian process that is told the true noise.

    Its kernel is a constant times a squared exponential, both found by maximum marginal likelihood
    from several starts.
    """
    kernel = ConstantKernel(10.0, (1e-2, 1e4)) * RBF(1.0, (1e-1, 1e2))
    process = GaussianProcessRegressor(
        kernel,
        alpha=true_noise_std(data.X[:, 0]) ** 2,
        n_restarts_optimizer=4,
        random_state=seed,
    )
    return rmse(true_mean(INSIDE), process.fit(data.X, data.y).predict(INSIDE[:, None]))


def score_seed(seed: int) -> Row:
    """Fit the default model to the data of one seed; return the numbers of its row."""
    data = load_toy(NUM_ROWS, random_state=seed)
    model = VeBNNRegressor(random_state=seed).fit(data.X, data.y)
    found = score(model, seed)
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
    if num_seeds < 1:
        raise ValueError(f"The number of seeds must be at least 1. Got {num_seeds}.")
    settings = {"model": "VeBNNRegressor()", "num_rows": NUM_ROWS, "num_fresh": NUM_FRESH}
    rows = run_cases(
        ResultsFile(path, stamp("toy", **settings)),
        [{"seed": seed} for seed in range(num_seeds)],
        lambda case: score_seed(case["seed"]),
        console,
        lambda case: f"seed {case['seed']}",
    )
    console.print(bench_table(rows))
    console.print(f"Rows: {path}", highlight=False, soft_wrap=True)
    return rows


def bench_table(rows: list[Row]) -> Table:
    """Return a line per seed, their mean, and the limits beside it."""
    columns = {
        "mean_rmse": "RMSE",
        "oracle_rmse": "oracle",
        "rmse_ratio": "ratio",
        "noise_error": "noise error",
        "coverage": "coverage",
        "epistemic_inside": "inside",
        "epistemic_outside": "outside",
        "epistemic_ratio": "ratio",
        "seconds": "seconds",
    }
    table = wide_table(
        title=f"Toy: {NUM_ROWS} points in [0, 10], default settings",
        caption=(
            "RMSE: of the mean on [0, 10]. Oracle: that of a Gaussian process told the true noise. "
            "Noise error: mean relative error of the aleatoric std. Coverage: of 95 % intervals, on "
            "fresh data. Inside, outside: mean epistemic std on [0, 10] and [13, 14]."
        ),
        columns=("seed", *columns.values()),
    )
    for row in rows:
        table.add_row(str(row["seed"]), *(_number(row[name], name) for name in columns))
    table.add_section()
    means = {name: average(rows, name) for name in columns}
    # On average against the oracle's average: a seed with a lucky oracle does not count more.
    means["rmse_ratio"] = means["mean_rmse"] / means["oracle_rmse"]
    table.add_row("mean", *(_judged(means[name], name) for name in columns), style="bold")
    table.add_row("limit", *(str(LIMITS.get(name, "")) for name in columns))
    return table


class Demo(NamedTuple):
    """A model fitted to the toy data, and how good it is."""

    data: Toy
    model: VeBNNRegressor
    score: Score


def demo(seed: int = 0, *, verbose: int = 1) -> Demo:
    """Fit the default model to the toy data of a seed, with progress bars unless ``verbose`` is 0."""
    if seed < 0:
        raise ValueError(f"The seed must be a whole number of at least 0. Got {seed}.")
    data = load_toy(NUM_ROWS, random_state=seed)
    model = VeBNNRegressor(random_state=seed, verbose=verbose).fit(data.X, data.y)
    return Demo(data, model, score(model, seed))


def demo_table(found: Score) -> Table:
    """Return the numbers of the demo, in words."""
    table = Table(title="What the model learned from 200 points in [0, 10]", title_justify="left")
    table.add_column("question")
    table.add_column("answer", justify="right")
    table.add_column("ideal", justify="right", style="dim")
    table.add_row("RMSE of the mean on [0, 10]", f"{found.mean_rmse:.2f}", "0")
    table.add_row("Error of the noise std on [0, 10]", f"{found.noise_error:.0%}", "0%")
    table.add_row("Coverage of 95 % intervals on fresh data", f"{found.coverage:.1%}", "95%")
    table.add_row("Epistemic std inside the data, [0, 10]", f"{found.epistemic_inside:.2f}", "small")
    table.add_row("Epistemic std outside, [13, 14]", f"{found.epistemic_outside:.2f}", "large")
    return table


def _number(value: float, name: str) -> str:
    coarse = name in ("seconds", "epistemic_ratio", "epistemic_outside")
    return f"{value:.1f}" if coarse else f"{value:.3f}"


def _judged(value: float, name: str) -> str:
    if name not in LIMITS:
        return _number(value, name)
    colour = "green" if LIMITS[name].holds(value) else "red"
    mark = "✓" if LIMITS[name].holds(value) else "✗"
    return f"[{colour}]{_number(value, name)} {mark}[/{colour}]"
