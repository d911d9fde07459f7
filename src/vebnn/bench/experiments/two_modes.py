"""Noise with two modes, where the truth is known: the paper's multi-modal example as a benchmark."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from vebnn.bench.figures.two_modes import Branches, Slice, plot_two_modes
from vebnn.bench.results import (
    ResultsFile,
    Row,
    average,
    r_hat,
    run_cases,
    stamp,
    wide_table,
)
from vebnn.datasets.two_modes import (
    DATA_RANGE,
    TwoModes,
    load_two_modes,
    observe,
    true_log_prob,
    true_modes,
)
from vebnn.estimators import MixtureRegressor, VeBNNRegressor
from vebnn.plots import save_figure
from vebnn.prediction import Modes, Prediction

NUM_ROWS = 1_000
NUM_FRESH = 5_000
SLICE_AT = 4.0
INSIDE = np.linspace(*DATA_RANGE, 161)
LARGEST_ERROR = 0.1  # of means and stds
LARGEST_IGNORANCE = 0.25  # of the noise std of a mode


class ModeErrors(NamedTuple):
    """Predicted modes against the true ones, on average over modes and some x."""

    mean_error: float  # relative to the distance between the two true means
    std_error: float  # relative to the true std
    weight_error: float  # absolute
    ignorance: float  # epistemic std of the mode's mean, relative to the true std


def mode_errors(predicted: Modes, x: np.ndarray) -> ModeErrors:
    """Compare modes ``(2, points)`` with the truth at x; the one that lies higher is the upper one."""
    modes, truth = upper_first(predicted), true_modes(x)
    distance = truth.mean[0] - truth.mean[1]
    return ModeErrors(
        mean_error=float(np.mean(np.abs(modes.mean - truth.mean) / distance)),
        std_error=float(np.mean(np.abs(modes.aleatoric_std / truth.std - 1))),
        weight_error=float(np.mean(np.abs(modes.weight - truth.weight))),
        ignorance=float(np.mean(modes.epistemic_std / truth.std)),
    )


def upper_first(modes: Modes) -> Modes:
    """Return the two modes in the order of the truth, by their means on average over x."""
    order = np.argsort(-modes.mean.reshape(2, -1).mean(1))
    return Modes(*(part[order] for part in modes))


def score_seed(seed: int) -> Row:
    """Fit both default models to the data of one seed; return numbers, and what the figure needs."""
    data = load_two_modes(NUM_ROWS, random_state=seed)
    model = MixtureRegressor(num_modes=2, random_state=seed).fit(data.X, data.y)
    one_mode = VeBNNRegressor(random_state=seed).fit(data.X, data.y)
    inside = model.predict_distribution(INSIDE[:, None])
    at = model.predict_distribution(np.array([[SLICE_AT]]))
    here = mode_errors(at.modes, np.array([SLICE_AT]))
    # A second word in the seed: never the numbers the training data were drawn with.
    rng = np.random.default_rng([seed, 1])
    x = rng.uniform(*DATA_RANGE, NUM_FRESH)
    y, _ = observe(x, rng)
    return {
        **mode_errors(inside.modes, INSIDE)._asdict(),
        **{f"slice_{name}": value for name, value in here._asdict().items()},
        "log_likelihood": _log_likelihood(model.predict_distribution(x[:, None]), y),
        "one_mode": _log_likelihood(one_mode.predict_distribution(x[:, None]), y),
        "true_log_likelihood": float(true_log_prob(x, y).mean()),
        "r_hat": r_hat(model),
        "branches": _listed(branches_of(inside.modes)),
        "slice": _listed(slice_of(at)),
    }


def branches_of(modes: Modes) -> Branches:
    """Return what the left panel of the figure shows."""
    modes = upper_first(modes)
    return Branches(INSIDE, modes.mean, modes.aleatoric_std, modes.epistemic_std)


def slice_of(prediction: Prediction) -> Slice:
    """Return what the right panel shows, from a prediction of one row."""
    truth, modes = true_modes(np.array([SLICE_AT])), upper_first(prediction.modes)
    y = np.linspace(truth.mean.min() - 4 * truth.std.max(), truth.mean.max() + 4 * truth.std.max(), 201)
    density = np.exp([prediction.log_prob(np.array([one]), "mixture")[0] for one in y])
    return Slice(SLICE_AT, y, density, modes.mean[:, 0], modes.aleatoric_std[:, 0])


def bench_two_modes(num_seeds: int, path: Path, console: Console, folder: Path) -> list[Row]:
    """Score seeds 0, 1, …, print the table, draw the first seed; finished seeds are not run again.

    Args:
      num_seeds: how many.
      path: file of rows.
      console: where the table is printed.
      folder: for the figure.
    """
    if num_seeds < 1:
        raise ValueError(f"The number of seeds must be at least 1. Got {num_seeds}.")
    folder.mkdir(parents=True, exist_ok=True)  # what cannot be written is said before the long fit
    settings = {"model": "MixtureRegressor(num_modes=2)", "num_rows": NUM_ROWS, "num_fresh": NUM_FRESH}
    rows = run_cases(
        ResultsFile(path, stamp("two modes", **settings)),
        [{"seed": seed} for seed in range(num_seeds)],
        lambda case: score_seed(case["seed"]),
        console,
        lambda case: f"seed {case['seed']}",
    )
    console.print(bench_table(rows))
    console.print(f"Rows: {path}", highlight=False, soft_wrap=True)
    data = load_two_modes(NUM_ROWS, random_state=rows[0]["seed"])
    picture, _ = save_figure(figure_of(data, rows[0]), folder, "two-modes")
    console.print(f"Figure: {picture}", highlight=False, soft_wrap=True)
    return rows


def figure_of(data: TwoModes, row: Row) -> Figure:
    """Draw the figure of one row."""
    branches, cut = row["branches"], row["slice"]
    return plot_two_modes(
        data,
        Branches(**{name: np.asarray(values) for name, values in branches.items()}),
        Slice(cut["x"], *(np.asarray(cut[name]) for name in Slice._fields[1:])),
    )


def bench_table(rows: list[Row]) -> Table:
    """Return a line per seed, their mean, and the limits beside it."""
    columns = {
        "mean_error": "means",
        "slice_mean_error": "at 4",
        "std_error": "stds",
        "slice_std_error": "at 4",
        "weight_error": "weights",
        "ignorance": "ignor.",
        "log_likelihood": "LL",
        "one_mode": "1 mode",
        "true_log_likelihood": "truth",
        "seconds": "s",
    }
    limits = {
        "mean_error": LARGEST_ERROR,
        "std_error": LARGEST_ERROR,
        "slice_mean_error": LARGEST_ERROR,
        "slice_std_error": LARGEST_ERROR,
        "ignorance": LARGEST_IGNORANCE,
    }
    table = wide_table(
        title=f"Two modes: {NUM_ROWS} points in [0, 8], default settings",
        caption=(
            "Means: mean error of the modes' means, relative to the distance between them. Stds: mean "
            f"relative error of their noise std. Both on [0, 8], then at x = {SLICE_AT:g}. "
            "Weights: mean error of their probabilities. Ignor.: epistemic std of a mode's mean "
            "over its noise std. LL: mean log-likelihood of fresh data; 1 mode: that of a "
            "VeBNNRegressor; truth: that of the truth. s: seconds for both."
        ),
        columns=("seed", *columns.values()),
    )
    for row in rows:
        table.add_row(str(row["seed"]), *(_number(row[name], name) for name in columns))
    table.add_section()
    cells = []
    for name in columns:
        value = average(rows, name)
        good = value <= limits.get(name, np.inf)
        mark = (" ✓" if good else " ✗") if name in limits else ""
        cells.append(_number(value, name) + mark)
    table.add_row("mean", *cells, style="bold")
    table.add_row("limit", *(f"≤ {limits[name]:g}" if name in limits else "" for name in columns))
    return table


def _number(value: float, name: str) -> str:
    coarse = {
        "seconds": ".0f",
        "log_likelihood": ".2f",
        "one_mode": ".2f",
        "true_log_likelihood": ".2f",
    }
    return format(value, coarse.get(name, ".3f"))


def _log_likelihood(prediction: Prediction, y: np.ndarray) -> float:
    return float(prediction.log_prob(y, "mixture").mean())


def _listed(parts: NamedTuple) -> Row:
    return {name: np.round(value, 5).tolist() for name, value in parts._asdict().items()}
