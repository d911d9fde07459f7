"""Student-t and Gaussian noise, on data with and without outliers.

``python examples/heavy_tails.py`` fits two models to each of three problems, with five seeds (thirty
fits, some minutes), prints their scores on new rows as a table and writes a picture to ``docs/images``.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vebnn import Prediction, VeBNNRegressor
from vebnn.metrics import coverage, rmse
from vebnn.plots.style import BLACK, BLUE, ORANGE, STYLE, open_frame
from vebnn.prediction import crps

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "heavy-tails.png"
NUM_TRAINED, NUM_NEW, NUM_SEEDS = 200, 2_000, 5
SHARE_GROSS, GROSS = 0.05, 20
GRID = np.linspace(-3, 3, 161)


def gross(num: int, rng: np.random.Generator) -> np.ndarray:
    """Return Gaussian noise, 20 times as large in one row of twenty."""
    return rng.standard_normal(num) * np.where(rng.random(num) < SHARE_GROSS, GROSS, 1)


NOISES: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "5 % gross errors, 20 times as large": gross,
    "Student-t, 3 degrees of freedom": lambda num, rng: rng.standard_t(3, num),
    "Gaussian": lambda num, rng: rng.standard_normal(num),
}


class Rows(NamedTuple):
    """Rows whose mean is known."""

    X: np.ndarray
    y: np.ndarray
    mean: np.ndarray


class Scores(NamedTuple):
    """How good a model is on new rows."""

    rmse: float  # of the mean, against the truth
    log_likelihood: float
    crps: float
    coverage: float  # of 95 % ranges
    freedom: float


def rows_of(noise: str, num: int, seed: int) -> Rows:
    """Return random rows; noise is three times as large on the right."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(GRID[0], GRID[-1], num)
    mean = np.sin(2 * x) + x / 2
    return Rows(x[:, None], mean + np.where(x > 0, 0.3, 0.1) * NOISES[noise](num, rng), mean)


def learned(noise: str, heavy_tails: bool, seed: int) -> VeBNNRegressor:
    """Fit a model to the rows of a seed."""
    rows = rows_of(noise, NUM_TRAINED, seed)
    return VeBNNRegressor(heavy_tails=heavy_tails, random_state=seed).fit(rows.X, rows.y)


def scores_of(model: VeBNNRegressor, noise: str, seed: int) -> Scores:
    """Score a model on new rows with the same noise, gross errors included."""
    new = rows_of(noise, NUM_NEW, 1_000 + seed)
    found = model.predict_distribution(new.X)
    freedom = model.degrees_of_freedom_
    return Scores(
        rmse(new.mean, found.mean),
        found.log_prob(new.y).mean(),
        crps(found, new.y).mean(),
        coverage(new.y, *found.interval(0.95)),
        np.nan if freedom is None else float(freedom[0]),
    )


def table_line(noise: str, model: str, scores: list[Scores]) -> str:
    """Return a row of the table: averages over seeds, and the range of the degrees of freedom."""
    *average, _ = np.mean(scores, axis=0)
    freedom = sorted(one.freedom for one in scores)
    ends = "" if np.isnan(freedom[0]) else f"{freedom[0]:.1f} to {freedom[-1]:.1f}"
    numbers = " | ".join(f"{number:.3f}" for number in average)
    return f"| {noise} | {model} | {numbers} | {ends} |"


def draw(axes: Axes, title: str, rows: Rows, found: Prediction) -> None:
    """Draw data, truth, mean and 95 % range."""
    band = found.interval(0.95)
    axes.fill_between(GRID, *band, color=ORANGE, alpha=0.3, linewidth=0, label="95 % range")
    axes.scatter(rows.X[:, 0], rows.y, s=9, color=BLACK, alpha=0.5, linewidth=0, label="data")
    axes.plot(GRID, np.sin(2 * GRID) + GRID / 2, color=BLACK, linewidth=1, label="truth")
    axes.plot(GRID, found.mean, color=BLUE, linewidth=2, label="mean")
    axes.set_title(title)
    axes.set_xlabel("x")
    axes.set_xlim(GRID[0], GRID[-1])
    axes.set_ylim(-7, 7)
    open_frame(axes)


def main() -> None:
    """Fit, print and draw."""
    titles = {False: "Gaussian noise", True: "heavy_tails=True"}
    shown: list[Prediction] = []
    print("| noise | model | RMSE of the mean | log-likelihood | CRPS | coverage of 95 % | ν |")
    print("|---|---|---|---|---|---|---|")
    for noise in NOISES:
        for heavy_tails, title in titles.items():
            scores = []
            for seed in range(NUM_SEEDS):
                model = learned(noise, heavy_tails, seed)
                scores.append(scores_of(model, noise, seed))
                if seed == 0:
                    shown.append(model.predict_distribution(GRID[:, None]))
            print(table_line(noise, title, scores), flush=True)
    rows = rows_of(next(iter(NOISES)), NUM_TRAINED, 0)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.5, 3.8), layout="constrained", facecolor="white")
        for axes, title, found in zip(figure.subplots(1, 2), titles.values(), shown, strict=False):
            draw(axes, title, rows, found)
        figure.axes[0].legend(frameon=False, loc="upper left", ncols=2)
    figure.savefig(IMAGE, dpi=110)


if __name__ == "__main__":
    main()
