"""Programs timed in turn."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from benchmarks.speed.workers import Program, Worker


@dataclass(frozen=True)
class Timing:
    """Median seconds per step of each program that has the job; reasons why others do not."""

    job: tuple
    seconds: dict[str, float]
    missing: dict[str, str]


def measure(
    programs: Sequence[Program], jobs: Sequence[tuple[Any, ...]], repeats: int, console: Console
) -> list[Timing]:
    """Time every job with every program, in turn; with several repeats, after one that warms up."""
    workers = [Worker(program) for program in programs]
    timings = []
    try:
        for job in jobs:
            with console.status(" · ".join(str(getattr(part, "name", part)) for part in job)):
                timings.append(_in_turn(workers, job, repeats))
    finally:
        for worker in workers:
            worker.stop()
    return timings


def _in_turn(workers: list[Worker], job: tuple, repeats: int) -> Timing:
    missing = {worker.program.name: worker.prepare(*job) for worker in workers}
    able = [worker for worker in workers if not missing[worker.program.name]]
    times: dict[str, list[float]] = {worker.program.name: [] for worker in able}
    warm_up = repeats > 1
    for _ in range(repeats + warm_up):
        for worker in able:
            times[worker.program.name].append(worker.time())
    seconds = {name: statistics.median(each[warm_up:]) for name, each in times.items()}
    return Timing(job, seconds, {name: why for name, why in missing.items() if why})
