"""UCI regression: methods × data sets × seeded splits, on one machine or many."""

from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path

from rich.console import Console
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from vebnn.bench.baselines import PEERS
from vebnn.bench.contenders import PRESETS, find_contender, full_name
from vebnn.bench.forecasts import scores
from vebnn.bench.methods import ALL
from vebnn.bench.results import ResultsFile, Row, run_cases, stamp
from vebnn.core.arguments import require_one_of
from vebnn.core.devices import available_cores
from vebnn.core.workers import spread
from vebnn.datasets.uci import load_uci
from vebnn.training import TrainingDiverged

TEST_SHARE = 0.2

GROUPS: dict[str, tuple[str, ...]] = {
    "all": (*ALL, *PEERS),
    # The rows of the paper's tables.
    "paper": (
        *("ME (MSE)", "MVE (β-NLL=1.0)", "MVE (Natural)", "Evidential"),
        *(f"MVE ({name})" for name in ("Ensembles", "MC-Dropout", "BBB", "pSGLD")),
        *(f"VeBNN ({name})" for name in ("Ensembles", "MC-Dropout", "BBB", "pSGLD")),
    ),
    "peers": tuple(PEERS),
}


def score_split(preset: str, case: Row) -> Row:
    """Fit a method to 80 % of the rows; return its numbers on the others.

    Args:
      preset: how this library's methods are trained.
      case: ``dataset``, ``method`` and ``split``, which seeds both the split and the model.
    """
    data = load_uci(case["dataset"])
    parts = train_test_split(data.X, data.y, test_size=TEST_SHARE, random_state=case["split"])
    X_train, X_test, y_train, y_test = parts
    contender = find_contender(case["method"], preset)
    try:
        with threadpool_limits(1):  # others have the other cores
            return scores(contender(X_train, y_train, X_test, case["split"]), y_test)
    except TrainingDiverged as diverged:
        return {"skipped": str(diverged)}


def bench_uci(
    datasets: Sequence[str],
    num_splits: int,
    path: Path,
    console: Console,
    *,
    methods: Sequence[str] = ("VeBNN (pSGLD)",),
    preset: str = "standard",
    engine: str = "local",
    jobs: int | None = None,
    scheduler: str | None = None,
    mix: bool = False,
) -> list[Row]:
    """Score every method on every split of every data set; return the rows, finished ones included.

    Args:
      datasets: names; one whose file is missing is passed over, and its row says why.
      num_splits: seeds 0, 1, … of the 80/20 splits.
      path: file of rows; the same call goes on with it.
      console: where progress is shown.
      methods: names for :func:`~vebnn.bench.contenders.find_contender`, or of a group: ``"all"``,
        ``"paper"``, ``"peers"``.
      preset: ``"paper"`` (the paper's networks, epochs and calibration), ``"standard"`` (this
        library's defaults, joint methods with the paper's choice of learning rates) or ``"quick"``
        (a quarter of that length).
      engine: where fits run, see :func:`~vebnn.core.workers.spread`.
      jobs: how many at once.
      scheduler: of a cluster.
      mix: whether rows of the file count that another version of the code made.
    """
    if num_splits < 1:
        raise ValueError(f"The number of splits must be at least 1. Got {num_splits}.")
    require_one_of("preset", preset, PRESETS)
    names = [full for name in methods for full in map(full_name, GROUPS.get(name.casefold(), (name,)))]
    if not datasets or not names:
        raise ValueError(
            "The benchmark needs at least one data set and one method. "
            f"Got {len(datasets)} and {len(names)}."
        )
    file = ResultsFile(path, stamp("uci", preset=preset, test_share=TEST_SHARE), mix)
    missing = {name: why for name in datasets if (why := _missing(name))}
    present = [name for name in datasets if name not in missing]
    if not present:
        raise FileNotFoundError(missing[datasets[0]])
    for name, why in missing.items():
        console.print(f"{name} is passed over. {why}", highlight=False, soft_wrap=True)
        _pass_over(name, why, names, file)
    programs = list(product(present, dict.fromkeys(names)))
    at_once = jobs or available_cores()
    # Neighbours in the queue are different programs: workers compile them side by side, and later find
    # each other's in the compilation cache.
    cases = [
        {"dataset": dataset, "method": method, "split": split}
        for start in range(0, len(programs), at_once)
        for split in range(num_splits)
        for dataset, method in programs[start : start + at_once]
    ]
    return run_cases(
        file,
        cases,
        partial(score_split, preset),
        console,
        lambda case: f"{case['dataset']} · {case['method']} · split {case['split']}",
        spread=partial(spread, engine=engine, jobs=jobs, scheduler=scheduler),
    )


def _missing(dataset: str) -> str | None:
    """Look for the data before the first long fit; return what is wrong, if anything is."""
    try:
        load_uci(dataset)
    except FileNotFoundError as missing:
        return str(missing)
    return None


def _pass_over(dataset: str, why: str, methods: Sequence[str], file: ResultsFile) -> None:
    """Keep for the tables why a data set has no numbers."""
    known = {(row["dataset"], row["method"]) for row in file.rows() if "skipped" in row}
    for method in methods:
        if (dataset, method) not in known:
            file.append({"dataset": dataset, "method": method, "split": 0, "skipped": why})
