"""An update with new rows against a new fit of all rows: computing time and scores.

A model is fitted to half of the rows of a problem whose truth is known, and updated with a quarter,
twice. A new model is fitted to all of them.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from vebnn.bench.experiments.queue import one_core
from vebnn.bench.experiments.truth import score_forecast
from vebnn.bench.forecasts import Forecast
from vebnn.bench.results import ResultsFile, Row, r_hat, run_cases, stamp
from vebnn.core.arguments import require_one_of, require_whole
from vebnn.datasets.truth import PROBLEMS, TruthData, load_truth
from vebnn.estimators import VeBNNRegressor

METHOD = "VeBNN (pSGHMC)"  # the default
NUM_TEST, NUM_OUTSIDE = 2_000, 1_000
DEFAULT_PROBLEMS = ("heteroscedastic", "tiny-linear")
SHARES = (0.5, 0.75, 1.0)  # of the rows: the first fit, and each update
# The models of a row, in the order of their fits.
UPDATED, REFITTED = "updated", "refitted"
MODELS = ("half", UPDATED, REFITTED)


@one_core
def compare_update(problem: str, seed: int) -> Row:
    """Return computing time and scores of the three models of one seed of a problem.

    Seconds are those of the processor, which other programs do not lengthen; those of an update are the
    last one's.
    """
    data = load_truth(problem, NUM_TEST, NUM_OUTSIDE, random_state=seed)
    first, *later = (round(share * len(data.X)) for share in SHARES)
    model = VeBNNRegressor(random_state=seed)
    seconds = {"half": _timed(model.fit, data.X[:first], data.y[:first])}
    scores = {"half": _scores(model, data)}
    for size in later:
        seconds[UPDATED] = _timed(model.update, data.X[:size], data.y[:size])
    scores[UPDATED] = _scores(model, data)
    again = VeBNNRegressor(random_state=seed)
    seconds[REFITTED] = _timed(again.fit, data.X, data.y)
    scores[REFITTED] = _scores(again, data)
    found = {name: {"cpu_seconds": seconds[name], **scores[name]} for name in MODELS}
    return {"method": METHOD, **found}


def _timed(learn: Callable[..., VeBNNRegressor], X: np.ndarray, y: np.ndarray) -> float:
    started = time.process_time()
    learn(X, y)
    return round(time.process_time() - started, 2)


def _scores(model: VeBNNRegressor, data: TruthData) -> Row:
    found = model.predict_distribution(np.concatenate([data.X_test, data.X_outside]))
    forecast = Forecast(found.mean, found.variance, noise_variance=found.aleatoric_variance)
    return {**score_forecast(forecast, data), "r_hat": r_hat(model)}


def bench_update(problems: Sequence[str], num_seeds: int, path: Path, console: Console) -> list[Row]:
    """Compare updates with new fits on every seed of every problem; return the rows."""
    require_whole("seeds", num_seeds, 1)
    for problem in problems:
        require_one_of("problem", problem, tuple(PROBLEMS))
    cases = [
        {"problem": problem, "seed": seed}
        for seed in range(num_seeds)
        for problem in problems or DEFAULT_PROBLEMS
    ]
    settings = {"shares": list(SHARES), "num_test": NUM_TEST, "num_outside": NUM_OUTSIDE}
    return run_cases(ResultsFile(path, stamp("update", **settings)), cases, compare_update, console)
