"""The rows of the measurements, and their tables in docs/scale.md."""

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from vebnn.serialization.files import write_bytes

DOCS = Path(__file__).parents[2] / "docs"
ROWS, PAGE = DOCS / "results" / "streams.jsonl", DOCS / "scale.md"
LIMITS = {"fit": {"time": 1.05}, "predict": {"time": 1.05, "memory": 0.1}}  # growth exponents


@dataclass(frozen=True)
class Row:
    """One command on one table."""

    part: str  # "fit" or "predict"
    rows: int
    effort: str
    machine: str
    seconds: float
    processor_seconds: float  # of all threads: other work on the machine matters little
    peak_mib: int


Rows = Mapping[tuple[str, int], Row]


def read(path: Path) -> dict[tuple[str, int], Row]:
    """Return the rows of earlier runs."""
    lines = path.read_text().splitlines() if path.exists() else []
    rows = [Row(**json.loads(line)) for line in lines]
    return {(row.part, row.rows): row for row in rows}


def write(path: Path, rows: Rows) -> None:
    """Write all rows."""
    lines = [json.dumps(asdict(row), ensure_ascii=False) for _, row in sorted(rows.items())]
    write_bytes(path, "".join(f"{line}\n" for line in lines).encode())


def machine() -> str:
    """Return processor cores, memory and the load of the last minutes."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[2]
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}, load {load:.1f}"
    )


def exponent(rows: Rows, part: str, cost: str) -> float | None:
    """Return the slope of log cost over log rows; nothing with fewer than two sizes."""
    some = [row for (name, _), row in sorted(rows.items()) if name == part]
    if len(some) < 2:
        return None
    costs = [getattr(row, cost) for row in some]
    return float(np.polyfit(np.log([row.rows for row in some]), np.log(costs), 1)[0])


def table(rows: Rows, part: str) -> str:
    """Return the table of one part, and its growth."""
    lines = ["| rows | seconds | processor seconds | peak memory |", "|---:|---:|---:|---:|"]
    some = [row for (name, _), row in sorted(rows.items()) if name == part]
    lines += [
        f"| {row.rows:,} | {row.seconds:,.0f} | {row.processor_seconds:,.0f} | {row.peak_mib:,} MiB |"
        for row in some
    ]
    costs = {"time": "processor_seconds", "memory": "peak_mib"}
    growth = []
    for cost, limit in LIMITS[part].items():
        if (found := exponent(rows, part, costs[cost])) is not None:
            kept = "kept" if found <= limit else "**missed**"
            growth.append(f"{cost} grows with rows to the power of {found:.2f} (limit {limit}, {kept})")
    machines = "; ".join(dict.fromkeys(row.machine for row in some))
    closing = f"Machine: {machines}. " + (f"The {'; '.join(growth)}." if growth else "")
    return "\n".join([*lines, "", closing.strip()])


def text(rows: Rows) -> str:
    """Return all tables."""
    measured = [part for part in LIMITS if any(name == part for name, _ in rows)]
    return "\n\n".join(f"{part}\n\n{table(rows, part)}" for part in measured)


def update(rows: Rows) -> None:
    """Write the tables between their marks in the page."""
    page = PAGE.read_text()
    for part in LIMITS:
        begin, end = f"<!-- streams {part} -->", f"<!-- end of streams {part} -->"
        before, found, rest = page.partition(begin)
        if found:
            page = f"{before}{begin}\n\n{table(rows, part)}\n\n{end}{rest.partition(end)[2]}"
    write_bytes(PAGE, page.encode())
