"""What longer training buys: seconds against accuracy, beside other methods."""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from vebnn.bench.experiments.queue import method_names, one_core
from vebnn.bench.experiments.truth import score_forecast
from vebnn.bench.experiments.uci_settings import EFFORTS, find_forecaster
from vebnn.bench.results import ResultsFile, Row, run_cases, stamp
from vebnn.core.arguments import require_whole
from vebnn.datasets.truth import PROBLEMS, load_truth

PROBLEM, NUM_ROWS = "additive", 1_000
NUM_TEST = 2_000
OURS = "VeBNN (pSGHMC)"
# The default of version 0.1 and before is there for its time.
DEFAULT_METHODS = (OURS, "VeBNN (pSGLD)", "GP (4 starts)", "CatBoost", "NGBoost")


@one_core
def score_effort(method: str, effort: str, seed: int) -> Row:
    """Fit a method twice; return the time of both fits, and the scores against the truth.

    The second fit finds its programs compiled.
    """
    data = load_truth(PROBLEM, NUM_TEST, num_rows=NUM_ROWS, random_state=seed)
    _, forecaster = find_forecaster(method, effort)
    X_new = np.concatenate([data.X_test, data.X_outside])
    seconds = []
    for _ in range(2):
        started = time.perf_counter()
        forecast = forecaster(data.X, data.y, X_new, seed)
        seconds.append(round(time.perf_counter() - started, 2))
    first, again = seconds
    return {
        **score_forecast(forecast, data),
        "problem": PROBLEM,
        "first_seconds": first,
        "fit_seconds": again,
    }


def bench_effort(methods: Sequence[str], num_seeds: int, path: Path, console: Console) -> list[Row]:
    """Time and score methods, ours with every effort; return the rows, finished ones included.

    Fits run one after another on one core: their times can be compared.
    """
    require_whole("seeds", num_seeds, 1)
    names = method_names(methods or DEFAULT_METHODS, "standard")
    file = ResultsFile(
        path, stamp("effort", num_rows=NUM_ROWS, num_inputs=PROBLEMS[PROBLEM].num_inputs)
    )
    cases = [
        {"method": name, "effort": effort, "seed": seed}
        for seed in range(num_seeds)
        for name in names
        for effort in (EFFORTS if name == OURS else ("standard",))
    ]
    return run_cases(file, cases, score_effort, console)
