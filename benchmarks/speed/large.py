"""Large tables: default fits of vebnn, CatBoost and NGBoost, each in a fresh process.

    python -m benchmarks.speed.large vebnn|catboost|ngboost ROWS

adds a row to docs/results/large-tables.jsonl. The mean and the noise are known, so that errors are
those of the fit alone. ``python -m benchmarks.speed --only large`` measures what has no row.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.results import sheet, short
from benchmarks.streams.child import peak_mib
from vebnn.bench.render.sheet import Sheet
from vebnn.core.devices import available_cores

RESULTS = Path(__file__).parents[2] / "docs" / "results" / "large-tables.jsonl"
SIZES = (10_000, 100_000, 1_000_000)
MOST_OF_NGBOOST = 100_000  # with more rows it takes hours

FEATURES = 20
TEST_ROWS = 20_000
INTERVAL = 1.96  # standard deviations, 95 %


def mean_of(x: np.ndarray) -> np.ndarray:
    """Return the mean: waves, an interaction, an edge; eleven of the features do nothing."""
    wave = np.sin(2 * x[:, 0]) + 0.5 * np.cos(x[:, 1] + x[:, 2])
    return wave + 0.5 * x[:, 3] * x[:, 4] + np.tanh(3 * x[:, 5]) + 0.2 * x[:, 6]


def std_of(x: np.ndarray) -> np.ndarray:
    """Return the standard deviation of the noise."""
    return np.exp(-1.1 + 0.5 * np.sin(x[:, 7]) + 0.25 * x[:, 8])


def rows(number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and targets."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((number, FEATURES), dtype=np.float32)
    return x, (mean_of(x) + std_of(x) * rng.standard_normal(number)).astype(np.float32)


def vebnn(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and std of the default fit."""
    from vebnn import VeBNNRegressor

    return VeBNNRegressor(random_state=0).fit(x, y).predict(new, return_std=True)  # type: ignore[return-value]


def catboost(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and std of 1,000 trees."""
    from catboost import CatBoostRegressor

    settings: dict[str, Any] = {"loss_function": "RMSEWithUncertainty", "verbose": False}
    model = CatBoostRegressor(
        iterations=1_000,
        random_seed=0,
        thread_count=available_cores(),
        allow_writing_files=False,
        **settings,
    )
    mean, variance = model.fit(x, y).predict(new).T
    return mean, np.sqrt(variance)


def ngboost(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and std of NGBoost's defaults, which use one core."""
    from ngboost import NGBRegressor

    found = NGBRegressor(random_state=0, verbose=False).fit(x, y).pred_dist(new)
    return found.loc, found.scale


METHODS = {"vebnn": vebnn, "catboost": catboost, "ngboost": ngboost}


def measure(method: str, number: int) -> dict[str, Any]:
    """Fit rows, predict others; return time, memory and scores."""
    x, y = rows(number, seed=0)
    new, targets = rows(TEST_ROWS, seed=1)
    before, started, processor = _peak_gib(), time.perf_counter(), time.process_time()
    mean, std = METHODS[method](x, y, new)
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    return {
        "method": method,
        "rows": number,
        "seconds": seconds,
        "processor_seconds": processor,
        "load": os.getloadavg()[2],
        "tll": _log_density(targets, mean, std),
        "tll_truth": _log_density(targets, mean_of(new), std_of(new)),
        "rmse_to_truth": float(np.sqrt(np.mean((mean - mean_of(new)) ** 2))),
        "coverage": float(np.mean(np.abs(targets - mean) < INTERVAL * std)),
        "rows_gib": before,
        "peak_gib": _peak_gib(),
    }


def read_rows() -> list[dict[str, Any]]:
    """Return the rows that have been measured, small tables first."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return sorted(map(json.loads, lines), key=lambda row: (row["rows"], row["method"]))


def measure_missing() -> None:
    """Measure what has no row yet, each in a process of its own."""
    known = {(row["method"], row["rows"]) for row in read_rows()}
    for number in SIZES:
        for method in METHODS:
            possible = method != "ngboost" or number <= MOST_OF_NGBOOST
            if possible and (method, number) not in known:
                command = [sys.executable, "-m", "benchmarks.speed.large", method, str(number)]
                subprocess.run(command, check=True)


def as_sheet() -> Sheet:
    """Return the table of all rows."""
    found = read_rows()
    lines = [
        [
            f"{row['rows']:,}",
            row["method"],
            short(row["seconds"]),
            short(row["processor_seconds"]),
            f"{row['tll']:.3f}",
            f"{row['rmse_to_truth']:.3f}",
            f"{row['coverage']:.3f}",
            f"{row['peak_gib']:.1f} GiB",
            f"{row['load']:.0f}",
        ]
        for row in found
    ]
    truth = found[0]["tll_truth"] if found else float("nan")
    caption = (
        f"Default fits of vebnn and NGBoost, CatBoost with 1,000 trees and RMSEWithUncertainty; "
        f"{FEATURES} features, nine of which matter. Fit and prediction of {TEST_ROWS:,} rows: time, "
        f"processor time of all cores, TLL (that of the truth is {truth:.3f}), RMSE to the true mean, "
        f"coverage of 95 % intervals, peak memory of the process, and the load average of the machine, "
        f"which makes times longer, processor times hardly."
    )
    columns = ("rows", "", "time", "processor", "TLL", "RMSE", "coverage", "memory", "load")
    return sheet("Large tables", caption, columns, lines)


def _log_density(y: np.ndarray, mean: np.ndarray, std: np.ndarray) -> float:
    return float(np.mean(-0.5 * ((y - mean) / std) ** 2 - np.log(std) - 0.5 * np.log(2 * np.pi)))


def _peak_gib() -> float:
    # Not ru_maxrss, which begins with that of the process that has started this one.
    return peak_mib() / 2**10


if __name__ == "__main__":
    measured = json.dumps(measure(sys.argv[1], int(sys.argv[2])))
    print(measured)
    with RESULTS.open("a") as file:
        file.write(measured + "\n")
