"""Targets with impossible values: what real and other kinds of targets predict.

``python examples/targets.py`` fits six models (a few minutes), prints their scores on new rows as a
table and writes a picture to ``docs/images``.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vebnn import Prediction, VeBNNRegressor
from vebnn.metrics import coverage
from vebnn.plots.style import BLACK, BLUE, ORANGE, STYLE, open_frame

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "targets.png"
NUM_TRAINED, NUM_NEW = 200, 2_000
GRID = np.linspace(0, 4, 161)


class Problem(NamedTuple):
    """A target with a kind, as a function of x and of random numbers."""

    kind: str
    words: str
    observe: Callable[[np.ndarray, np.random.Generator], np.ndarray]


class Fitted(NamedTuple):
    """A model of a problem, by its predictions."""

    kind: str
    new: Prediction
    line: Prediction  # along the grid


def rise(x: np.ndarray) -> np.ndarray:
    """Return a curve that all problems share."""
    return x / 2 + np.sin(2 * x)


def share_of(x: np.ndarray) -> np.ndarray:
    """Return the mean of the fraction."""
    return 1 / (1 + np.exp(1 - 1.2 * rise(x)))


PROBLEMS = (
    Problem(
        "positive",
        "log-normal, std 0.7 of log(y)",
        lambda x, rng: np.exp(rise(x) + 0.7 * rng.standard_normal(len(x))),
    ),
    Problem(
        "fraction",
        "Beta, both parameters sum to 12",
        lambda x, rng: rng.beta(12 * share_of(x), 12 - 12 * share_of(x)),
    ),
    Problem(
        "count",
        "Poisson, mean 0.6 to 12",
        lambda x, rng: rng.poisson(np.exp(rise(x) - 0.5)).astype(float),
    ),
)


def rows_of(problem: Problem, number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random rows of a problem."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(GRID[0], GRID[-1], number)
    return x[:, None], problem.observe(x, rng)


def learned(problem: Problem, kind: str) -> Fitted:
    """Fit a model with a kind of target."""
    model = VeBNNRegressor(target=kind, random_state=0).fit(*rows_of(problem, NUM_TRAINED, 0))
    X_new, _ = rows_of(problem, NUM_NEW, 1)
    return Fitted(kind, model.predict_distribution(X_new), model.predict_distribution(GRID[:, None]))


def score_line(problem: Problem, fitted: Fitted) -> str:
    """Return a row of the table of scores."""
    _, y = rows_of(problem, NUM_NEW, 1)
    low, high = fitted.new.interval(0.95)
    outside = np.mean((low < 0) | ((high > 1) & (problem.kind == "fraction")))
    log_likelihood = fitted.new.log_prob(y).mean()
    return (
        f"| {problem.words} | {fitted.kind} | {log_likelihood:.2f} | {coverage(y, low, high):.3f} | "
        f"{outside:.2f} |"
    )


def draw(axes: Axes, problem: Problem, fitted: Fitted) -> None:
    """Draw data, mean and 95 % range."""
    X, y = rows_of(problem, NUM_TRAINED, 0)
    step = {"step": "mid"} if fitted.kind == "count" else {}
    band = fitted.line.interval(0.95)
    axes.fill_between(GRID, *band, color=ORANGE, alpha=0.3, linewidth=0, label="95 % range", **step)
    axes.scatter(X[:, 0], y, s=9, color=BLACK, alpha=0.5, linewidth=0, zorder=4, label="data")
    axes.plot(GRID, fitted.line.mean, color=BLUE, linewidth=2, label="mean")
    axes.axhline(0, color=BLACK, linewidth=0.8)
    axes.set_title(f'target="{fitted.kind}"')
    axes.set_xlim(GRID[0], GRID[-1])
    open_frame(axes)


def main() -> None:
    """Fit, print and draw."""
    models = [
        (problem, [learned(problem, kind) for kind in ("real", problem.kind)]) for problem in PROBLEMS
    ]
    print("| target | kind | log-likelihood | coverage of 95 % | ranges with impossible values |")
    print("|---|---|---|---|---|")
    for problem, pair in models:
        print("\n".join(score_line(problem, fitted) for fitted in pair))
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(11, 5.8), layout="constrained", facecolor="white")
        axes = figure.subplots(2, len(models), sharex=True, sharey="col")
        for (problem, pair), column in zip(models, axes.T, strict=True):
            for fitted, panel in zip(pair, column, strict=True):
                draw(panel, problem, fitted)
        axes[0, 0].legend(frameon=False, loc="upper left")
        for panel in axes[1]:
            panel.set_xlabel("x")
    figure.savefig(IMAGE, dpi=110)


if __name__ == "__main__":
    main()
