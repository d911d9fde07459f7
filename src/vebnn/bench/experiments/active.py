"""Active learning on the one-dimensional example: ask by ignorance, by total uncertainty, at random.

Noise grows with x, so the total uncertainty is largest where observations are worst. A model is fitted
to a few rows and asks for a few more, again and again; the error of its mean is that against the truth.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
from rich.console import Console
from rich.table import Table

from vebnn.acquisition import bald, choose_batch, epistemic_variance
from vebnn.bench.figures.active import plot_active
from vebnn.bench.results import ResultsFile, Row, run_cases, stamp, wide_table
from vebnn.core.arguments import require_whole
from vebnn.datasets.toy import DATA_RANGE, load_toy, observe, true_mean
from vebnn.estimators import VeBNNRegressor
from vebnn.inference import PSGLD
from vebnn.metrics import rmse
from vebnn.plots import save_figure
from vebnn.prediction import Prediction
from vebnn.training import Training

NUM_START = 8
NUM_ASKED = 3  # in a round
NUM_ROUNDS = 8
POOL = np.linspace(*DATA_RANGE, 201)
GRID = np.linspace(*DATA_RANGE, 501)
NOISY = 7.5  # begins the noisiest quarter
SIZES = NUM_START + NUM_ASKED * np.arange(NUM_ROUNDS + 1)

# Well below the default budget: there are many fits, and few rows in each.
ENGINE = PSGLD(
    num_samples=20, burn_in=800, thinning=20, num_chains=4, step_size=5e-3, decay=0.1 ** (1 / 1_200)
)
MEAN_TRAINING = Training(num_epochs=2_000, learning_rate=3e-3, patience=400)
VARIANCE_TRAINING = Training(num_epochs=1_500, learning_rate=1e-2, patience=300)


def new_model(seed: int) -> VeBNNRegressor:
    """Return a model that is fitted in about a second."""
    return VeBNNRegressor(
        inference=ENGINE,
        mean_training=MEAN_TRAINING,
        variance_training=VARIANCE_TRAINING,
        random_state=seed,
    )


def total_variance(prediction: Prediction) -> np.ndarray:
    """Return noise and ignorance together: what is asked for if they cannot be told apart."""
    return prediction.variance


# The same greedy batches for all: what differs is the score alone.
METHODS: Mapping[str, Callable[[Prediction], np.ndarray] | None] = MappingProxyType(
    {"epistemic": epistemic_variance, "bald": bald, "total": total_variance, "random": None}
)
REFERENCE = "epistemic"


def learn(seed: int, method: str) -> Row:
    """Ask in rounds; return the RMSE on [0, 10] before each and after the last, and what was asked.

    Args:
      seed: of the rows to start with, of the noise and of the models. Methods start alike.
      method: one of ``METHODS``.
    """
    X, y = load_toy(NUM_START, random_state=seed)
    rng = np.random.default_rng([seed, 1])  # not the numbers that drew the first rows
    pool, errors = POOL, []
    for size in SIZES:
        model = new_model(seed).fit(X, y)
        errors.append(rmse(true_mean(GRID), model.predict_distribution(GRID[:, None]).mean))
        if size < SIZES[-1]:
            rows = ask(model, pool, method, rng)
            asked, pool = pool[rows], np.delete(pool, rows)
            X = np.concatenate([X, asked[:, None]])
            y = np.concatenate([y, observe(asked, "heteroscedastic", rng)])
    return {"rmse": errors, "asked": X[NUM_START:, 0].tolist()}


def ask(model: VeBNNRegressor, pool: np.ndarray, method: str, rng: np.random.Generator) -> np.ndarray:
    """Return the rows of the pool to measure next."""
    score = METHODS[method]
    if score is None:
        return rng.choice(len(pool), NUM_ASKED, replace=False)
    return choose_batch(model.predict_distribution(pool[:, None]), NUM_ASKED, score).rows


def bench_active(num_seeds: int, path: Path, console: Console) -> list[Row]:
    """Learn with every method from every seed, print the table, save the figure beside the rows."""
    require_whole("num_seeds", num_seeds, 1)
    settings = {"engine": repr(ENGINE), "sizes": SIZES.tolist()}
    rows = run_cases(
        ResultsFile(path, stamp("active", **settings)),
        [{"seed": seed, "method": method} for seed in range(num_seeds) for method in METHODS],
        lambda case: learn(case["seed"], case["method"]),
        console,
        lambda case: f"seed {case['seed']} · {case['method']}",
    )
    errors = errors_of(rows)
    asked = {
        method: np.concatenate([row["asked"] for row in rows if row["method"] == method])
        for method in METHODS
    }
    picture, _ = save_figure(plot_active(SIZES, errors, asked), path.parent, path.stem)
    console.print(bench_table(errors, asked))
    console.print(f"Rows: {path}. Figure: {picture}", highlight=False, soft_wrap=True)
    return rows


def errors_of(rows: list[Row]) -> dict[str, np.ndarray]:
    """Return the RMSE of each method, ``(seeds, rounds)``."""
    return {
        method: np.array([row["rmse"] for row in rows if row["method"] == method]) for method in METHODS
    }


def bench_table(errors: Mapping[str, np.ndarray], asked: Mapping[str, np.ndarray]) -> Table:
    """Return a line per method: its curve, and how far it is behind asking by ignorance."""
    num_seeds = len(errors[REFERENCE])
    shown = range(0, NUM_ROUNDS + 1, 2)
    table = wide_table(
        title=f"Active learning: {NUM_ASKED} questions a round, {num_seeds} seeds",
        caption=(
            "RMSE of the mean on [0, 10] after so many measurements, mean over seeds. Curve: mean of "
            "the RMSE over all rounds after the first question. Behind: by how much its curve is "
            f"above that of {REFERENCE}, ± standard error over seeds. Lost: seeds on which it is "
            f"above. Noisy: share of the questions at x > {NOISY:g}."
        ),
        columns=(
            *("ask by", *(str(SIZES[number]) for number in shown)),
            *("curve", "behind", "lost", "noisy"),
        ),
    )
    for method, found in errors.items():
        curve = found[:, 1:].mean(1)
        behind = curve - errors[REFERENCE][:, 1:].mean(1)
        same = method == REFERENCE
        table.add_row(
            method,
            *(f"{found[:, number].mean():.2f}" for number in shown),
            f"{curve.mean():.2f}",
            "" if same else _mean_and_error(behind),
            "" if same else f"{int((behind > 0).sum())}/{num_seeds}",
            f"{np.mean(asked[method] > NOISY):.0%}",
        )
    return table


def _mean_and_error(values: np.ndarray) -> str:
    if len(values) == 1:
        return f"{values[0]:.2f}"
    return f"{values.mean():.2f} ± {values.std(ddof=1) / np.sqrt(len(values)):.2f}"
