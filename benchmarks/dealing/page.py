"""The rows of the measurements, and their tables in docs/scale.md."""

import json
from collections.abc import Sequence
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
LARGE, MACHINES = 10**8, 100  # the estimate
LINK = 1.25e9  # bytes per second: 10 Gbit/s
COSTS = ("seconds", "control_seconds", "data_bytes", "state_bytes")
BEGIN, END = "<!-- dealing -->", "<!-- end of dealing -->"


@dataclass(frozen=True)
class Row:
    """One fit."""

    workers: int
    rows: int
    epochs: int
    machine: str
    seconds: float
    alone_seconds: float  # of these, while no worker had anything to do
    busiest_seconds: float  # processor time of the worker that took most
    control_seconds: float  # of products of NumPy matrices by the same workers
    data_bytes: int  # from the process that fits: arrays that workers keep
    passed_bytes: int  # from worker to worker
    state_bytes: int  # between the process that fits and its workers: all else

    @property
    def visits(self) -> int:
        """Rows that all networks and chains read."""
        return RUNS * STAGES * self.epochs * self.rows


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
    """Return the throughput and the bytes by size, the gain and the estimate."""
    sizes = sorted({row.rows for row in rows})
    lines = [
        "| rows | workers | fits | seconds | NumPy products | data sent | states sent |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    closing = []
    for size in sizes:
        some = [row for row in rows if row.rows == size]
        for workers in sorted({row.workers for row in some}):
            cost = {
                name: median(some, workers, name) for name in Row.__annotations__ if name != "machine"
            }
            number = sum(row.workers == workers for row in some)
            lines.append(
                f"| {size:,} | {workers} | {number} | {cost['seconds']:.1f} | "
                f"{cost['control_seconds']:.1f} s | {cost['data_bytes'] / 1e6:.1f} MB | "
                f"{cost['state_bytes'] / 1e6:.1f} MB |"
            )
        if {row.workers for row in some} == {1, 2}:
            gain = median(some, 1, "seconds") / median(some, 2, "seconds")
            machine_gain = median(some, 1, "control_seconds") / median(some, 2, "control_seconds")
            kept = "kept" if gain >= LIMIT else "**missed**"
            closing.append(
                f"With {size:,} rows two workers are {gain:.2f} times as fast as one (limit {LIMIT}, "
                f"{kept}); products of NumPy matrices {machine_gain:.2f} times."
            )
    machines = "; ".join(dict.fromkeys(row.machine for row in rows))
    return "\n".join([*lines, "", f"Medians. {' '.join(closing)} Machine: {machines}."])


def estimate(rows: Sequence[Row]) -> str:
    """Return what 10⁸ rows and 100 machines would take, from runs with one worker."""
    alone = [row for row in rows if row.workers == 1]
    sizes = sorted({row.rows for row in alone})
    each = {size: [row for row in alone if row.rows == size] for size in sizes}
    per_row = {size: median(found, 1, "data_bytes") / size for size, found in each.items()}
    rate = {
        size: float(np.median([row.visits / row.seconds for row in found]))
        for size, found in each.items()
    }
    bytes_per_row, speed = per_row[sizes[-1]], rate[sizes[-1]]
    one, everywhere = bytes_per_row * LARGE, bytes_per_row * LARGE * MACHINES
    epoch = LARGE / speed / 3600
    measured = "; ".join(
        f"{size:,} rows: {per_row[size]:.0f} bytes per row, {rate[size] / 1e6:.2f} million rows/s"
        for size in sizes
    )
    return (
        f"Measured with one worker of one core: {measured}. With 10⁸ rows of 20 columns that is "
        f"{one / 1e9:.0f} GB for each worker and {everywhere / 1e12:.1f} TB for {MACHINES}: "
        f"{everywhere / LINK / 3600:.1f} hours through one link of 10 Gbit/s, if no worker passes "
        f"data on. An epoch of one network takes a core {epoch:.2f} hours, so that {STAGES} stages of "
        f"20 epochs take {20 * STAGES * epoch:.0f} hours, with as many chains as machines."
    )


def update(rows: Sequence[Row]) -> None:
    """Write the tables between their marks in the page."""
    before, found, rest = PAGE.read_text().partition(BEGIN)
    if found:
        text = f"{before}{BEGIN}\n\n{table(rows)}\n\n{estimate(rows)}\n\n{END}{rest.partition(END)[2]}"
        write_bytes(PAGE, text.encode())
