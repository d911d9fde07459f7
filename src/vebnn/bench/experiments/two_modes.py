"""Noise with two modes and a known truth: the paper's multi-modal example as a benchmark."""

from pathlib import Path

import numpy as np
import pandas
from rich.console import Console

from vebnn.bench.figures.two_modes import plot_two_modes
from vebnn.bench.render.limits import Column, limits_sheet
from vebnn.bench.render.sheet import Sheet
from vebnn.bench.render.terminal import print_lines, print_sheet
from vebnn.bench.results import ResultsFile, Row, r_hat, run_cases, stamp
from vebnn.core.arguments import require_whole
from vebnn.datasets.two_modes import DATA_RANGE, load_two_modes, observe, true_log_prob, true_modes
from vebnn.estimators import MixtureRegressor, VeBNNRegressor
from vebnn.plots import save_figure
from vebnn.prediction import Modes, Prediction

NUM_ROWS = 1_000
NUM_FRESH = 5_000
SLICE_AT = 4.0
INSIDE = np.linspace(*DATA_RANGE, 161)
COLUMNS = {
    "mean_error": Column("means", high=0.1),
    "slice_mean_error": Column("at 4", high=0.1),
    "std_error": Column("stds", high=0.1),
    "slice_std_error": Column("at 4", high=0.1),
    "weight_error": Column("weights"),
    "ignorance": Column("epist.", high=0.25),
    "log_likelihood": Column("LL", ".2f"),
    "one_mode": Column("1 mode", ".2f"),
    "true_log_likelihood": Column("truth", ".2f"),
    "seconds": Column("s", ".0f"),
}


def mode_errors(predicted: Modes, x: np.ndarray) -> dict[str, float]:
    """Compare modes ``(2, points)`` with the truth at x, on average over modes and inputs.

    Errors of means are relative to the distance between the two true means, errors of stds and the
    epistemic std (``ignorance``) to the true std; errors of weights are absolute.
    """
    modes, truth = upper_first(predicted), true_modes(x)
    distance = truth.mean[0] - truth.mean[1]
    return {
        "mean_error": float(np.mean(np.abs(modes.mean - truth.mean) / distance)),
        "std_error": float(np.mean(np.abs(modes.aleatoric_std / truth.std - 1))),
        "weight_error": float(np.mean(np.abs(modes.weight - truth.weight))),
        "ignorance": float(np.mean(modes.epistemic_std / truth.std)),
    }


def upper_first(modes: Modes) -> Modes:
    """Return the two modes in the order of the truth, by their means averaged over x."""
    order = np.argsort(-modes.mean.reshape(2, -1).mean(1))
    return Modes(*(part[order] for part in modes))


def score_seed(seed: int) -> Row:
    """Fit both default models to the data of one seed; return the scores and the figure's curves."""
    data = load_two_modes(NUM_ROWS, random_state=seed)
    model = MixtureRegressor(num_modes=2, random_state=seed).fit(data.X, data.y)
    one_mode = VeBNNRegressor(random_state=seed).fit(data.X, data.y)
    inside = model.predict_distribution(INSIDE[:, None])
    at = model.predict_distribution(np.array([[SLICE_AT]]))
    here = mode_errors(at.modes, np.array([SLICE_AT]))
    # The second number keeps this stream apart from that of the training data.
    rng = np.random.default_rng([seed, 1])
    x = rng.uniform(*DATA_RANGE, NUM_FRESH)
    y, _ = observe(x, rng)
    return {
        **mode_errors(inside.modes, INSIDE),
        **{f"slice_{name}": value for name, value in here.items()},
        "log_likelihood": float(model.predict_distribution(x[:, None]).log_prob(y, "mixture").mean()),
        "one_mode": float(one_mode.predict_distribution(x[:, None]).log_prob(y, "mixture").mean()),
        "true_log_likelihood": float(true_log_prob(x, y).mean()),
        "r_hat": r_hat(model),
        "branches": branches_of(inside.modes),
        "slice": slice_of(at),
    }


def branches_of(modes: Modes) -> Row:
    """Return the curves of the figure's left panel."""
    modes = upper_first(modes)
    stds = {"aleatoric_std": modes.aleatoric_std, "epistemic_std": modes.epistemic_std}
    return _listed({"x": INSIDE, "mean": modes.mean, **stds})


def slice_of(prediction: Prediction) -> Row:
    """Return the curves of the right panel, from a prediction of one row."""
    truth, modes = true_modes(np.array([SLICE_AT])), upper_first(prediction.modes)
    y = np.linspace(truth.mean.min() - 4 * truth.std.max(), truth.mean.max() + 4 * truth.std.max(), 201)
    density = np.exp([prediction.log_prob(np.array([one]), "mixture")[0] for one in y])
    means = {"mean": modes.mean[:, 0], "aleatoric_std": modes.aleatoric_std[:, 0]}
    return _listed({"x": np.array(SLICE_AT), "y": y, "density": density, **means})


def bench_two_modes(num_seeds: int, path: Path, console: Console, folder: Path) -> list[Row]:
    """Score seeds 0, 1, …, print the table, draw the first seed; finished seeds are not run again."""
    require_whole("seeds", num_seeds, 1)
    folder.mkdir(parents=True, exist_ok=True)  # fails before the long fit, not after it
    settings = {"model": "MixtureRegressor(num_modes=2)", "num_rows": NUM_ROWS, "num_fresh": NUM_FRESH}
    file = ResultsFile(path, stamp("two modes", **settings))
    rows = run_cases(file, [{"seed": seed} for seed in range(num_seeds)], score_seed, console)
    data = load_two_modes(NUM_ROWS, random_state=rows[0]["seed"])
    figure = plot_two_modes(data, rows[0]["branches"], rows[0]["slice"])
    picture, _ = save_figure(figure, folder, "two-modes")
    print_sheet(seeds_sheet(rows), console)
    print_lines(console, f"Rows: {path}", f"Figure: {picture}")
    return rows


def seeds_sheet(rows: list[Row]) -> Sheet:
    """Return the table of seeds, means and limits."""
    return limits_sheet(
        f"Two modes: {NUM_ROWS} points in [0, 8], default settings",
        "Means: error of the modes' means, relative to the distance between them. Stds: relative error "
        f"of the modes' noise std. Both averaged over [0, 8], then at x = {SLICE_AT:g}. Weights: error "
        "of the modes' probabilities. Epist.: epistemic std of a mode's mean over its noise std. LL: "
        "mean log-likelihood of fresh data; 1 mode: of a VeBNNRegressor; truth: of the true density. "
        "s: seconds for both fits.",
        COLUMNS,
        rows,
        pandas.DataFrame(rows)[list(COLUMNS)].mean(),
    )


def _listed(arrays: dict[str, np.ndarray]) -> Row:
    return {name: np.round(values, 5).tolist() for name, values in arrays.items()}
