"""Methods × tables of the user's own × splits."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from vebnn.bench.experiments.queue import method_names, one_core, queue
from vebnn.bench.experiments.uci_settings import EFFORTS, find_forecaster
from vebnn.bench.forecasts import Forecast, scores
from vebnn.bench.methods import split_kind
from vebnn.bench.own_tables import OwnTable
from vebnn.bench.render.terminal import print_lines
from vebnn.bench.results import ResultsFile, Row, run_cases, stamp
from vebnn.core.arguments import require_number, require_one_of, require_whole
from vebnn.core.workers import spread
from vebnn.prediction.targets import TARGETS
from vebnn.tabular.plan import TrainingPlan
from vebnn.tabular.target_kinds import require_possible

DEFAULT_METHODS = ("VeBNN (pSGHMC)", "CatBoost", "NGBoost", "Quantile boosting")
EXPERIMENT = "run"


def predict(table: OwnTable, method: str, preset: str, plan: TrainingPlan, split: int) -> Forecast:
    """Fit a method to the training rows of a split, and predict the others.

    Every method gets the same encoded columns: numbers with marks of gaps, one-hot categories, dates as
    trend and seasons. A method with a kind of target in its name learns the target on the scale of that
    kind; the others of this library learn it as the table says, and baselines as it is. Methods of this
    library know the groups, and keep them together inside their training.
    """
    inputs, observed = plan.table.take, plan.table.observed[:, 0]
    X, y = np.asarray(inputs(plan.trained)), observed[plan.trained]
    X_new = np.asarray(inputs(plan.held_out))
    groups = None if table.group is None else plan.groups.of_rows[plan.trained]
    name, kind = split_kind(method)
    if kind is None:
        _, forecaster = find_forecaster(name, preset, table.target_kind, groups)
        return forecaster(X, y, X_new, split)
    target = TARGETS[kind]
    _, forecaster = find_forecaster(name, preset, groups=groups)
    z = forecaster(X, target.transform(y), X_new, split)
    return z.in_units_of(target) if kind != "real" else z


@one_core
def score_split(
    tables: Sequence[OwnTable], preset: str, dataset: str, fingerprint: str, method: str, split: int
) -> Row:
    """Fit a method to the training rows of a split of a table; return its scores on the others."""
    (table,) = (one for one in tables if one.name == dataset)
    plan = table.plan(split)
    y = plan.table.observed[plan.held_out, 0]
    forecast = predict(table, method, preset, plan, split)
    floor = TARGETS[table.target_kind].floor
    lower, _ = forecast.total_interval()
    facts = {
        "target_kind": table.target_kind,
        "impossible": float(np.mean(lower < floor)),  # share of intervals that go below the floor
        "trained": len(plan.trained),
        "tested": len(plan.held_out),
        "inputs": plan.table.matrix.shape[1],
    }
    return _finite(scores(forecast, y)) | facts


def _finite(numbers: Row) -> Row:
    """Return a row without infinite scores: a method may give an observation no density at all."""

    def checked(value: Any) -> Any:
        return None if isinstance(value, float) and not np.isfinite(value) else value

    return {name: checked(value) for name, value in numbers.items()}


def bench_run(
    tables: Sequence[OwnTable],
    methods: Sequence[str],
    num_splits: int,
    path: Path,
    console: Console,
    *,
    preset: str = "standard",
    jobs: int | None = None,
) -> list[Row]:
    """Score every method on every split of every table; return the rows, finished ones included.

    Arguments are those of ``vebnn bench run``; the tables are those of
    :func:`vebnn.bench.own_tables.own_tables`. Everything is checked before the first fit.
    """
    require_whole("splits", num_splits, 1)
    require_one_of("preset", preset, tuple(EFFORTS))
    names = run_names(methods or DEFAULT_METHODS, preset)
    said = []
    for table in tables:
        require_number("hold_out", table.hold_out, 0, 0.9, "(]")
        first = table.plan(0)  # by time, it is the one with the fewest rows
        said.append(table.describe(first))
        for kind in dict.fromkeys(split_kind(name)[1] for name in names):
            if kind is not None:
                values = first.table.observed
                require_possible(values, [table.target], [kind], first.table.frame.index)
    print_lines(console, *said)
    by_name = {table.name: table for table in tables}
    cases = [
        {
            "dataset": case["dataset"],
            "fingerprint": by_name[case["dataset"]].fingerprint,
            "method": case["method"],
            "split": case["split"],
        }
        for case in queue("dataset", list(by_name), names, "split", range(num_splits), jobs)
    ]
    file = ResultsFile(path, stamp(EXPERIMENT, preset=preset))
    # Copies do not take the rows along that these have read: workers read their own.
    score = partial(score_split, tuple(map(replace, tables)), preset)
    return run_cases(file, cases, score, console, partial(spread, jobs=jobs))


def run_names(methods: Sequence[str], preset: str) -> list[str]:
    """Return names of methods as tables spell them, each once; a group may have a kind, too."""
    found = []
    for name in methods:
        plain, kind = split_kind(name)
        suffix = "" if kind is None else f" / {kind}"
        found += [f"{one}{suffix}" for one in method_names([plain], preset)]
    return list(dict.fromkeys(found))
