"""A paper estimate of a large fit on many machines: measured costs, and how they grow with the rows.

A cost that grows more slowly than the rows is taken to grow with them: fixed costs are a large part of
a small run, and not of a large one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.dealing.page import RUNS, STAGES, Row, median
from benchmarks.streams import page as streams

LARGE, MACHINES = 10**8, 100
LINK = 1.25e9  # bytes per second: 10 Gbit/s
HOUR = 3600


@dataclass(frozen=True)
class Cost:
    """A cost by rows."""

    by_rows: Mapping[int, float]

    @property
    def power(self) -> float:
        """The slope of log cost over log rows; 1 with a single size."""
        if len(self.by_rows) < 2:
            return 1.0
        return float(np.polyfit(*np.log([list(self.by_rows), list(self.by_rows.values())]), 1)[0])

    @property
    def largest(self) -> tuple[int, float]:
        """The most rows, and their cost."""
        return max(self.by_rows.items())

    def at(self, rows: int) -> float:
        """Return the cost of so many rows, from that of the most rows measured."""
        most, cost = self.largest
        return cost * (rows / most) ** max(1.0, self.power)


def estimate(rows: Sequence[Row], predictions: streams.Rows) -> str:
    """Return the table of what 10⁸ rows and 100 machines of one core each would take."""

    def cost(name: str, workers: int = 1) -> Cost:
        sizes = sorted({row.rows for row in rows if row.workers == workers})
        each = {size: [row for row in rows if row.rows == size] for size in sizes}
        return Cost({size: median(some, workers, name) for size, some in each.items()})

    data, moved = cost("data_bytes"), cost("moved_bytes", workers=2)
    work, waiting = cost("worker_seconds"), cost("alone_seconds")
    piece = max(row.state_bytes / row.pieces for row in rows)
    predict = Cost(
        {size: row.processor_seconds for (part, size), row in predictions.items() if part == "predict"}
    )
    to_all = moved.at(LARGE) * MACHINES
    states = piece * STAGES * rows[0].epochs * MACHINES
    hours = [to_all / LINK / HOUR, work.at(LARGE) / RUNS / HOUR, waiting.at(LARGE) / HOUR]
    lines = [
        f"| | measured | at rows | power | {LARGE:,} rows, {MACHINES} machines |",
        "|---|---:|---:|---:|---:|",
        _line("data that a worker keeps", data, "{:.1f} MB", 1e-6, f"{data.at(LARGE) / 1e9:.0f} GB"),
        _line("data moved, by worker", moved, "{:.1f} MB", 1e-6, f"{moved.at(LARGE) / 1e9:.0f} GB"),
        f"| to all workers | | | | {to_all / 1e12:.1f} TB |",
        f"| through one link of 10 Gbit/s | | | | {hours[0]:.1f} hours |",
        f"| states, to and fro | {piece / 1e6:.2f} MB a piece | | | {states / 1e9:.1f} GB |",
        _line(f"{RUNS} runs by one worker", work, "{:.1f} s", 1, f"one run: {hours[1]:.1f} hours"),
        _line("between the pieces", waiting, "{:.1f} s", 1, f"{hours[2]:.1f} hours"),
        f"| the whole fit | | | | {sum(hours):.1f} hours |",
    ]
    if predict.by_rows:
        share = predict.at(LARGE) / MACHINES / 60
        lines.append(_line("prediction", predict, "{:,.0f} s", 1, f"{share:.1f} minutes"))
    return "\n".join(lines)


def _line(what: str, cost: Cost, form: str, unit: float, found: str) -> str:
    size, measured = cost.largest
    return f"| {what} | {form.format(measured * unit)} | {size:,} | {cost.power:.2f} | {found} |"
