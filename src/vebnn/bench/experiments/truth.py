"""Methods × problems with known mean and noise: is the split into noise and ignorance right?"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console

from vebnn.bench.experiments.queue import method_names, one_core, queue
from vebnn.bench.experiments.uci_settings import find_forecaster
from vebnn.bench.forecasts import Forecast, central_interval
from vebnn.bench.results import ResultsFile, Row, run_cases, stamp
from vebnn.core.arguments import require_one_of, require_whole
from vebnn.core.workers import spread
from vebnn.datasets.truth import PROBLEMS, TruthData, load_truth
from vebnn.metrics import coverage, log_likelihood, mean_relative_error, rmse

NUM_TEST = 2_000
NUM_OUTSIDE = 1_000
DEFAULT_METHODS = ("VeBNN (pSGHMC)", "MVE (Ensembles)", "GP (4 starts)", "CatBoost", "NGBoost")


def score_truth(
    inside: Forecast,
    outside: Forecast,
    y: np.ndarray,
    mean: np.ndarray,
    noise_std: np.ndarray,
    mean_outside: np.ndarray,
) -> Row:
    """Compare forecasts with the truth; a number is ``None`` if the method does not give what it needs.

    With m and σ the true mean and noise std at the test inputs, and hats for predictions:

    - ``mean_error``: RMSE of m̂ against m, over the root mean square of σ.
    - ``epistemic_coverage``: share of m inside m̂ ± 1.96 epistemic stds; ``outside_coverage`` is the
      same for inputs outside the training box.
    - ``noise_error``: mean of |σ̂ − σ| / σ.
    - ``tll_gap``: mean log density of fresh targets under N(m̂, total variance), minus that under
      N(m, σ²).
    - ``coverage``: share of fresh targets inside their 95 % interval.
    """

    def epistemic_coverage(forecast: Forecast, truth: np.ndarray) -> float | None:
        std = forecast.epistemic_std
        return None if std is None else coverage(truth, *central_interval(forecast.mean, std))

    noise = inside.noise_std
    return {
        "mean_error": rmse(mean, inside.mean) / float(np.sqrt(np.mean(noise_std**2))),
        "epistemic_coverage": epistemic_coverage(inside, mean),
        "noise_error": None if noise is None else mean_relative_error(noise_std, noise),
        "tll_gap": log_likelihood(y, inside.mean, inside.variance)
        - log_likelihood(y, mean, noise_std**2),
        "coverage": coverage(y, *inside.total_interval()),
        "outside_coverage": epistemic_coverage(outside, mean_outside),
        **inside.notes,
    }


def score_forecast(forecast: Forecast, data: TruthData) -> Row:
    """Compare a forecast of the test inputs, and then of those outside, with the truth."""
    num_test = len(data.X_test)
    return score_truth(
        forecast.rows(slice(num_test)),
        forecast.rows(slice(num_test, None)),
        data.y_test,
        data.truth.mean(data.X_test),
        data.truth.noise_std(data.X_test),
        data.truth.mean(data.X_outside),
    )


@one_core
def score_problem(preset: str, problem: str, method: str, seed: int) -> Row:
    """Fit a method to the data of one seed of a problem; return the numbers of its row."""
    data = load_truth(problem, NUM_TEST, NUM_OUTSIDE, random_state=seed)
    _, forecaster = find_forecaster(method, preset)
    forecast = forecaster(data.X, data.y, np.concatenate([data.X_test, data.X_outside]), seed)
    return score_forecast(forecast, data)


def bench_truth(
    problems: Sequence[str],
    methods: Sequence[str],
    num_seeds: int,
    path: Path,
    console: Console,
    *,
    preset: str = "standard",
    jobs: int | None = None,
) -> list[Row]:
    """Score every method on every seed of every problem; return the rows, finished ones included.

    Arguments are those of ``vebnn bench truth``; without ``problems`` or ``methods``, all problems and
    the default methods.
    """
    require_whole("seeds", num_seeds, 1)
    for problem in problems:
        require_one_of("problem", problem, tuple(PROBLEMS))
    names = method_names(methods or DEFAULT_METHODS, preset)
    settings = {"preset": preset, "num_test": NUM_TEST, "num_outside": NUM_OUTSIDE}
    cases = queue("problem", problems or tuple(PROBLEMS), names, "seed", range(num_seeds), jobs)
    file = ResultsFile(path, stamp("truth", **settings))
    return run_cases(file, cases, partial(score_problem, preset), console, partial(spread, jobs=jobs))
