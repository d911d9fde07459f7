"""Active learning on the one-dimensional example: query by epistemic, by total variance, at random.

Noise grows with x, so the total uncertainty is largest where observations are noisiest. A model is
fitted to a few rows and queries a few more, in rounds; its error is that of the mean against the truth.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from scipy.stats import sem

from vebnn.acquisition import bald, choose_batch, epistemic_variance
from vebnn.bench.figures.active import plot_active
from vebnn.bench.render.sheet import Sheet, cells
from vebnn.bench.render.terminal import print_lines, print_sheet
from vebnn.bench.results import ResultsFile, Row, run_cases, stamp
from vebnn.core.arguments import require_whole
from vebnn.datasets.toy import DATA_RANGE, load_toy, observe, true_mean
from vebnn.estimators import VeBNNRegressor
from vebnn.inference import PSGLD
from vebnn.metrics import rmse
from vebnn.plots import save_figure
from vebnn.prediction import Prediction
from vebnn.training import Training

NUM_START = 8
NUM_QUERIES = 3  # in a round
NUM_ROUNDS = 8
POOL = np.linspace(*DATA_RANGE, 201)
GRID = np.linspace(*DATA_RANGE, 501)
NOISY = 7.5  # begins the noisiest quarter
SIZES = NUM_START + NUM_QUERIES * np.arange(NUM_ROUNDS + 1)

# Well below the default lengths: there are many fits, and few rows in each.
ENGINE = PSGLD(
    num_samples=20, burn_in=800, thinning=20, num_chains=4, step_size=5e-3, decay=0.1 ** (1 / 1_200)
)
MEAN_TRAINING = Training(num_epochs=2_000, learning_rate=3e-3, patience=400)
VARIANCE_TRAINING = Training(num_epochs=1_500, learning_rate=1e-2, patience=300)

# Batches are greedy for all scores; only the score differs.
ACQUISITIONS: Mapping[str, Callable[[Prediction], np.ndarray] | None] = {
    "epistemic": epistemic_variance,
    "bald": bald,
    "total": lambda prediction: prediction.variance,
    "random": None,
}
REFERENCE = "epistemic"


def new_model(seed: int) -> VeBNNRegressor:
    """Return a model that is fitted in about a second."""
    return VeBNNRegressor(
        inference=ENGINE,
        mean_training=MEAN_TRAINING,
        variance_training=VARIANCE_TRAINING,
        random_state=seed,
    )


def learn(seed: int, method: str) -> Row:
    """Query in rounds; return the RMSE on [0, 10] before each and after the last, and the queries."""
    # The first rows depend on the seed alone, not on the method.
    X, y = load_toy(NUM_START, random_state=seed)
    rng = np.random.default_rng([seed, 1])  # apart from the stream of the first rows
    pool, errors = POOL, []
    for size in SIZES:
        model = new_model(seed).fit(X, y)
        errors.append(rmse(true_mean(GRID), model.predict_distribution(GRID[:, None]).mean))
        if size < SIZES[-1]:
            rows = query(model, pool, method, rng)
            asked, pool = pool[rows], np.delete(pool, rows)
            X = np.concatenate([X, asked[:, None]])
            y = np.concatenate([y, observe(asked, "heteroscedastic", rng)])
    return {"rmse": errors, "asked": X[NUM_START:, 0].tolist()}


def query(model: VeBNNRegressor, pool: np.ndarray, method: str, rng: np.random.Generator) -> np.ndarray:
    """Return the rows of the pool to measure next."""
    score = ACQUISITIONS[method]
    if score is None:
        return rng.choice(len(pool), NUM_QUERIES, replace=False)
    return choose_batch(model.predict_distribution(pool[:, None]), NUM_QUERIES, score).rows


def bench_active(num_seeds: int, path: Path, console: Console) -> list[Row]:
    """Learn with every method from every seed, print the table, save the figure beside the rows."""
    require_whole("seeds", num_seeds, 1)
    settings = {"engine": repr(ENGINE), "sizes": SIZES.tolist()}
    rows = run_cases(
        ResultsFile(path, stamp("active", **settings)),
        [{"seed": seed, "method": method} for seed in range(num_seeds) for method in ACQUISITIONS],
        learn,
        console,
    )
    picture, _ = save_figure(plot_active(SIZES, *_by_method(rows)), path.parent, path.stem)
    print_sheet(active_sheet(rows), console)
    print_lines(console, f"Rows: {path}. Figure: {picture}")
    return rows


def _by_method(rows: Sequence[Row]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return the RMSE ``(seeds, rounds)`` of every method, and the inputs it queried."""
    by_method = {name: [row for row in rows if row["method"] == name] for name in ACQUISITIONS}
    errors = {name: np.array([row["rmse"] for row in some]) for name, some in by_method.items()}
    asked = {name: np.concatenate([row["asked"] for row in some]) for name, some in by_method.items()}
    return errors, asked


def active_sheet(rows: Sequence[Row]) -> Sheet:
    """Return the table of rows of all methods."""
    return methods_sheet(*_by_method(rows))


def methods_sheet(errors: Mapping[str, np.ndarray], asked: Mapping[str, np.ndarray]) -> Sheet:
    """Return a row per method from its RMSE ``(seeds, rounds)`` and the inputs it queried."""
    num_seeds = len(errors[REFERENCE])
    shown = range(0, NUM_ROUNDS + 1, 2)

    def line(name: str, found: np.ndarray) -> list[str]:
        curve = found[:, 1:].mean(1)
        behind = curve - errors[REFERENCE][:, 1:].mean(1)
        error = f" ± {sem(behind):.2f}" if num_seeds > 1 else ""
        against = (f"{behind.mean():.2f}{error}", f"{int((behind > 0).sum())}/{num_seeds}")
        return [
            name,
            *(f"{found[:, number].mean():.2f}" for number in shown),
            f"{curve.mean():.2f}",
            *(("", "") if name == REFERENCE else against),
            f"{np.mean(asked[name] > NOISY):.0%}",
        ]

    return Sheet(
        f"Active learning: {NUM_QUERIES} queries a round, {num_seeds} seeds",
        "RMSE of the mean on [0, 10] after so many measurements, mean over seeds. Curve: mean of the "
        "RMSE over all rounds after the first query. Behind: how far its curve is above that of "
        f"{REFERENCE}, ± standard error over seeds. Lost: seeds on which it is above. Noisy: share of "
        f"the queries at x > {NOISY:g}.",
        ("query by", *(str(SIZES[number]) for number in shown), "curve", "behind", "lost", "noisy"),
        [[cells(*line(name, found)) for name, found in errors.items()]],
    )
