"""Measured data with repeats: whole conditions are held out, and their repeats show the noise."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from sklearn.model_selection import GroupKFold

from vebnn.bench.experiments.queue import method_names, one_core, queue
from vebnn.bench.experiments.truth import DEFAULT_METHODS
from vebnn.bench.experiments.uci_settings import find_forecaster
from vebnn.bench.forecasts import Forecast, scores
from vebnn.bench.repeats import Predicted, Repeats
from vebnn.bench.results import ResultsFile, Row, run_cases, stamp
from vebnn.core.workers import spread
from vebnn.datasets.replicates import SOURCES, load_replicates

NUM_SPLITS = 5


def held_out(condition: np.ndarray, split: int) -> np.ndarray:
    """Return which rows a split tests: every condition is tested whole, in one of five splits."""
    folds = GroupKFold(NUM_SPLITS, shuffle=True, random_state=0).split(condition, groups=condition)
    tested = np.zeros(len(condition), bool)
    tested[list(folds)[split][1]] = True
    return tested


def score_repeats(forecast: Forecast, y: np.ndarray, condition: np.ndarray) -> Row:
    """Return the scores of held-out rows, and the noise and the means of their conditions.

    The latter are defined in :mod:`vebnn.bench.repeats`; conditions without repeats count in the other
    scores only. The field ``conditions`` has what they were computed from.
    """
    repeats, first = Repeats.of(y, condition)
    some = forecast.rows(first)
    predicted = Predicted(some.mean, some.noise_std, some.epistemic_std)
    conditions = {"observed": _listed(repeats), "predicted": _listed(predicted)}
    return {**scores(forecast, y), **repeats.compare(predicted), "conditions": conditions}


def _listed(parts: Repeats | Predicted) -> dict[str, list[float] | None]:
    return {
        name: None if values is None else [float(f"{value:.6g}") for value in values]
        for name, values in parts._asdict().items()
    }


@one_core
def score_split(preset: str, dataset: str, method: str, split: int) -> Row:
    """Fit a method without the conditions of a split; return its scores on them."""
    data = load_replicates(dataset)
    tested = held_out(data.condition, split)
    _, forecaster = find_forecaster(method, preset)
    forecast = forecaster(data.X[~tested], data.y[~tested], data.X[tested], split)
    return score_repeats(forecast, data.y[tested], data.condition[tested])


def bench_replicates(
    datasets: Sequence[str],
    methods: Sequence[str],
    path: Path,
    console: Console,
    *,
    preset: str = "standard",
    jobs: int | None = None,
) -> list[Row]:
    """Score every method on the five splits of every data set; return the rows.

    Arguments are those of ``vebnn bench replicates``; without ``datasets`` or ``methods``, all data
    sets and the default methods of ``vebnn bench truth``.
    """
    wanted = list(datasets) or list(SOURCES)
    for dataset in wanted:
        load_replicates(dataset)  # look for the data before the first long fit
    names = method_names(methods or DEFAULT_METHODS, preset)
    file = ResultsFile(path, stamp("replicates", preset=preset, num_splits=NUM_SPLITS))
    cases = queue("dataset", wanted, names, "split", range(NUM_SPLITS), jobs)
    return run_cases(file, cases, partial(score_split, preset), console, partial(spread, jobs=jobs))
