"""The rows of the measurements, and their table in docs/scale.md."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.streams.page import DOCS, machine
from vebnn.serialization.files import write_bytes

__all__ = ["machine"]

ROWS, PAGE = DOCS / "results" / "dealing.jsonl", DOCS / "scale.md"
RUNS = 6  # networks or chains at once
STAGES = 3
LIMIT = 1.7  # throughput of two workers over that of one


@dataclass(frozen=True)
class Row:
    """One fit."""

    workers: int
    rows: int
    epochs: int
    machine: str
    seconds: float
    alone_seconds: float  # of these, while no worker had anything to do
    worker_seconds: float  # processor time of all workers
    control_seconds: float  # of products of NumPy matrices by the same workers
    pieces: int
    data_bytes: int  # from the process that fits: arrays that workers keep
    passed_bytes: int  # from worker to worker
    state_bytes: int  # between the process that fits and its workers: all else

    @property
    def undisturbed_seconds(self) -> float:
        """Seconds of evenly dealt work, with a core for each worker and nothing to wait for."""
        return self.alone_seconds + self.worker_seconds / self.workers

    @property
    def moved_bytes(self) -> float:
        """Arrays that a worker gets, from wherever; some more than once."""
        return (self.data_bytes + self.passed_bytes) / self.workers


def read(path: Path) -> list[Row]:
    """Return the rows of earlier runs."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [Row(**json.loads(line)) for line in lines]


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write all rows."""
    write_bytes(path, "".join(f"{json.dumps(asdict(row))}\n" for row in rows).encode())


def median(rows: Sequence[Row], workers: int, cost: str) -> float:
    """Return the median cost with so many workers."""
    return float(np.median([getattr(row, cost) for row in rows if row.workers == workers]))


def table(rows: Sequence[Row]) -> str:
    """Return time and bytes by size and number of workers, and what the second worker gains."""
    lines = [
        "| rows | workers | fits | seconds | alone | of workers | NumPy products | data sent "
        "| passed on | states |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    closing = []
    for size in sorted({row.rows for row in rows}):
        some = [row for row in rows if row.rows == size]
        lines += [_line(some, workers) for workers in sorted({row.workers for row in some})]
        if {row.workers for row in some} == {1, 2}:
            closing.append(_gain(some))
    machines, loads = zip(*(row.machine.split(", load ") for row in rows), strict=True)
    found = (
        f"{'; '.join(dict.fromkeys(machines))}, load {min(loads, key=float)} to {max(loads, key=float)}"
    )
    return "\n".join([*lines, "", f"Medians. {' '.join(closing)} Machine: {found}."])


def _line(rows: Sequence[Row], workers: int) -> str:
    costs = {
        name: median(rows, workers, name)
        for name, kind in Row.__annotations__.items()
        if kind is not str
    }
    number = sum(row.workers == workers for row in rows)
    seconds = " | ".join(
        f"{costs[f'{name}seconds']:.1f}" for name in ("", "alone_", "worker_", "control_")
    )
    sent = " | ".join(f"{costs[f'{name}_bytes'] / 1e6:.1f} MB" for name in ("data", "passed", "state"))
    return f"| {rows[0].rows:,} | {workers} | {number} | {seconds} | {sent} |"


def _gain(rows: Sequence[Row]) -> str:
    turns = [[row for row in rows if row.workers == workers] for workers in (1, 2)]

    def gain(cost: str) -> float:
        one_and_two = zip(*turns, strict=False)  # the last turn may have been interrupted
        return float(np.median([getattr(a, cost) / getattr(b, cost) for a, b in one_and_two]))

    fastest = [min(row.seconds for row in rows if row.workers == workers) for workers in (1, 2)]
    kept = "kept" if gain("seconds") >= LIMIT else "**missed**"
    return (
        f"With {rows[0].rows:,} rows two workers are {gain('seconds'):.2f} times as fast as one (limit "
        f"{LIMIT}, {kept}; median of the turns), and {gain('control_seconds'):.2f} times with "
        f"products of NumPy matrices; the fastest fits give {fastest[0] / fastest[1]:.2f}; "
        f"processor time, divided evenly, and the time alone {gain('undisturbed_seconds'):.2f}."
    )


def update(texts: Mapping[str, str]) -> None:
    """Write texts between their marks in the page."""
    page = PAGE.read_text()
    for name, text in texts.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, found, rest = page.partition(begin)
        if found:
            page = f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}"
    write_bytes(PAGE, page.encode())
