"""UCI regression: methods × data sets × seeded splits, on one machine or many."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from sklearn.model_selection import train_test_split

from vebnn.bench.experiments.queue import method_names, one_core, queue
from vebnn.bench.experiments.uci_settings import find_forecaster
from vebnn.bench.forecasts import scores
from vebnn.bench.render.terminal import print_lines
from vebnn.bench.results import ResultsFile, Row, run_cases, stamp
from vebnn.core.arguments import require_whole
from vebnn.core.workers import spread
from vebnn.datasets.standard_splits import NUM_SPLITS, load_standard
from vebnn.datasets.uci import load_uci

TEST_SHARE = 0.2
STANDARD = "uci standard"  # the experiment of rows on standard splits


@one_core
def score_split(preset: str, dataset: str, method: str, split: int) -> Row:
    """Fit a method to 80 % of the rows; return its scores on the others; ``split`` is the seed."""
    data = load_uci(dataset)
    X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=TEST_SHARE, random_state=split)
    _, forecaster = find_forecaster(method, preset)
    return scores(forecaster(X, y, X_test, split), y_test)


@one_core
def score_standard_split(preset: str, dataset: str, method: str, split: int) -> Row:
    """Fit a method to 90 % of the rows; return its scores on those of a standard split."""
    data, splits = load_standard(dataset)
    tested = np.isin(np.arange(len(data.X)), splits[split])
    _, forecaster = find_forecaster(method, preset)
    forecast = forecaster(data.X[~tested], data.y[~tested], data.X[tested], split)
    return scores(forecast, data.y[tested])


def bench_uci(
    datasets: Sequence[str],
    num_splits: int,
    path: Path,
    console: Console,
    *,
    methods: Sequence[str] = ("VeBNN (pSGHMC)",),
    preset: str = "standard",
    standard_splits: bool = False,
    backend: str = "local",
    jobs: int | None = None,
    scheduler: str | None = None,
) -> list[Row]:
    """Score every method on every split of every data set; return the rows, finished ones included.

    Arguments are those of ``vebnn bench uci``. Methods are names for
    :func:`~vebnn.bench.experiments.uci_settings.find_forecaster`, or groups: ``"all"``, ``"paper"``,
    ``"baselines"``. With ``standard_splits``, the first of the 20 90/10 splits of the literature
    replace random 80/20 splits, and rows have an experiment of their own. A data set without a file is
    skipped, and its row gives the reason.
    """
    require_whole("splits", num_splits, 1)
    if standard_splits and num_splits > NUM_SPLITS:
        raise ValueError(f"There are {NUM_SPLITS} standard splits. Got --splits {num_splits}.")
    names = method_names(methods, preset)
    if not datasets or not names:
        raise ValueError(
            "The benchmark needs at least one data set and one method. "
            f"Got {len(datasets)} and {len(names)}."
        )
    if standard_splits:
        file = ResultsFile(path, stamp(STANDARD, preset=preset))
    else:
        file = ResultsFile(path, stamp("uci", preset=preset, test_share=TEST_SHARE))
    score = score_standard_split if standard_splits else score_split
    missing = {name: why for name in datasets if (why := _missing(name, standard_splits))}
    present = [name for name in datasets if name not in missing]
    if not present:
        raise FileNotFoundError(missing[datasets[0]])
    recorded = {(row["dataset"], row["method"]) for row in file.rows() if "skipped" in row}
    for name, why in missing.items():
        print_lines(console, f"{name} is skipped. {why}")
        for method in names:
            if (name, method) not in recorded:
                file.append({"dataset": name, "method": method, "split": 0, "skipped": why})
    cases = queue("dataset", present, names, "split", range(num_splits), jobs)
    workers = partial(spread, backend=backend, jobs=jobs, scheduler=scheduler)
    return run_cases(file, cases, partial(score, preset), console, workers)


def _missing(dataset: str, standard_splits: bool) -> str | None:
    """Look for the data before the first long fit; return what is wrong, if anything is."""
    try:
        if standard_splits:
            load_standard(dataset)
        else:
            load_uci(dataset)
    except FileNotFoundError as missing:
        return str(missing)
    return None
