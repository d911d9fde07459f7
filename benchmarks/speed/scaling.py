"""How the cost grows with rows, draws, members and width."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from benchmarks.speed.cases import Case

BASE = Case("generated", (20,), 1, (50,), (5,), 1_000, 256, "relu", 1)
DRAWS = 150


class Curve(NamedTuple):
    """Seconds by size."""

    of: str
    cost: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """Slope of log seconds over log size."""
        return float(np.polyfit(np.log(self.sizes), np.log(self.seconds), 1)[0])


def curves(repeats: int) -> list[Curve]:
    """Return all curves."""
    decades = (1_000, 10_000, 100_000, 1_000_000)
    draws = (10, 100, 1_000, 10_000)
    wanted: list[tuple[str, str, tuple[int, ...], Callable]] = [
        ("rows", "an epoch of Step 1", decades, _epoch),
        ("rows", f"predicting with {DRAWS} draws", decades, _predict_rows),
        ("draws", "predicting 1,000 rows", draws, _predict_draws),
        ("draws", "sampling in Step 3, 1,000 rows", draws, _sample),
        ("members", "an epoch of Step 1, 1,000 rows each", (1, 10, 100, 1_000), _members),
        ("width", "an epoch of Step 1, 1,000 rows", (16, 64, 256, 1_024), _width),
    ]
    return [
        Curve(of, cost, sizes, tuple(_seconds(make, size, repeats) for size in sizes))
        for of, cost, sizes, make in wanted
    ]


def _seconds(make: Callable[[int], tuple[Callable[[], Any], int]], size: int, repeats: int) -> float:
    job, times = make(size)
    job()
    return min(_timed(job) for _ in range(repeats)) / times


def _timed(job: Callable[[], Any]) -> float:
    started = time.perf_counter()
    job()
    return time.perf_counter() - started


# Each returns a job, and how often it repeats the work: short work is repeated, so that the time to
# start a program does not count.


def _epochs(case: Case, times: int, runs: int = 1) -> tuple[Callable[[], Any], int]:
    from benchmarks.speed.ours import steps

    job, _ = steps(replace(case, steps=times * case.num_batches), 1, runs)
    return job, times


def _epoch(rows: int) -> tuple[Callable[[], Any], int]:
    # Ten at least: moving a million rows to the device takes as long as an epoch.
    return _epochs(replace(BASE, rows=rows), max(10, 300_000 // rows))


def _members(members: int) -> tuple[Callable[[], Any], int]:
    return _epochs(BASE, max(10, 1_000 // members), members)


def _width(width: int) -> tuple[Callable[[], Any], int]:
    return _epochs(replace(BASE, widths=(width,)), max(10, 10_000 // width))


def _sample(draws: int) -> tuple[Callable[[], Any], int]:
    from benchmarks.speed.ours import sampling

    return sampling(BASE, draws), 1


def _predict_rows(rows: int) -> tuple[Callable[[], Any], int]:
    from benchmarks.speed.ours import prediction

    return prediction(BASE, DRAWS, rows), 1


def _predict_draws(draws: int) -> tuple[Callable[[], Any], int]:
    from benchmarks.speed.ours import prediction

    return prediction(BASE, draws, 1_000), 1
