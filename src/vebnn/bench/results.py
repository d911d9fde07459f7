"""Rows of results: one JSON object per line, appended as soon as a fit is finished.

Every row carries a stamp: the experiment, the version of results and the settings. A run resumes from
the rows with its own stamp; rows with another stamp stay in the file.
"""

import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from sklearn.exceptions import ConvergenceWarning

import vebnn
from vebnn.core.progress import progress_bar
from vebnn.serialization.files import naming
from vebnn.serialization.locks import locked

# Raise this number when a change of the code can change the numbers of any experiment: rows of other
# versions are then computed again.
RESULTS_VERSION = 1

Row = dict[str, Any]


def stamp(experiment: str, **settings: Any) -> Row:
    """Return the fields that the rows of one run share."""
    return {"experiment": experiment, "results_version": RESULTS_VERSION, "settings": settings}


@dataclass(frozen=True)
class ResultsFile:
    """A file of rows."""

    path: Path  # the file; the first row creates it and its folder
    stamp: Mapping[str, Any]  # the fields that the rows of this run share

    def rows(self) -> list[Row]:
        """Return the rows of this run, in the order of the file."""
        mine = json.loads(json.dumps(dict(self.stamp))).items()
        every = read_rows(self.path) if self.path.exists() else []
        return [row for row in every if all(row.get(name) == value for name, value in mine)]

    def append(self, row: Row) -> Row:
        """Write one row to the end of the file and to the disk; return it with its stamp."""
        stamped = {**self.stamp, **row}
        line = json.dumps(stamped, allow_nan=False) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Without the lock, another run's line could pass for half a line.
        with naming(self.path), open(self.path, "a+b") as file, locked(self.path):
            file.seek(0)
            # An interrupted run may have left half a line: overwrite it.
            file.truncate(sum(map(len, _complete_lines(file.read()))))
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
        return stamped


def read_rows(path: Path) -> list[Row]:
    """Read all complete lines of a file; raise ValueError if one is not a row of this format."""
    lines = enumerate(_complete_lines(path.read_bytes()), start=1)
    return [_parsed(path, number, line) for number, line in lines if line.strip()]


def _complete_lines(content: bytes) -> list[bytes]:
    return [line for line in content.splitlines(True) if line.endswith(b"\n")]


def _parsed(path: Path, number: int, line: bytes) -> Row:
    where = f"Line {number} of {path}"
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise ValueError(
            f"{where} is not a JSON object. Delete the line, or choose another file with --out."
        )
    if {"version", "source"} <= row.keys() and "results_version" not in row:
        raise ValueError(
            f"{where} has the stamp of an older vebnn. Replace its `version` and `source` by "
            f'"results_version": 1 to keep the row, or choose another file with --out.'
        )
    return row


def run_cases(
    file: ResultsFile,
    cases: Sequence[Row],
    compute: Callable[..., Row],
    console: Console,
    spread: Callable[..., Iterator[tuple[Row, Row]]] | None = None,
) -> list[Row]:
    """Compute the cases that the file lacks; return the rows of all cases, in order.

    A case has the fields that identify its row, such as ``{"seed": 3}``. ``compute`` takes them as
    keyword arguments and returns the numbers. ``spread`` calls a function with every case and yields
    pairs of case and result, in any order; ``None`` does so in this process.
    """

    def identity(row: Row) -> tuple:
        return tuple(row[field] for field in cases[0])

    # A skipped case is tried again: its data may be there now.
    finished = [row for row in file.rows() if "skipped" not in row]
    found = {identity(row): row for row in finished} if cases else {}
    left = [case for case in cases if identity(case) not in found]
    work = partial(_timed, compute)
    results = ((case, work(case)) for case in left) if spread is None else spread(work, left)
    # Fits take seconds to minutes, so the pace is the mean over all of them.
    with progress_bar(console=console, speed_estimate_period=24 * 3600) as bar:
        known = len(cases) - len(left)
        task = bar.add_task(_words(left[0]) if left else "", total=len(cases), completed=known)
        for case, numbers in results:
            found[identity(case)] = file.append({**case, **numbers})
            bar.update(task, advance=1, description=_words(case))
        bar.update(task, description="finished")
    return [found[identity(case)] for case in cases]


def _words(case: Row) -> str:
    return " · ".join(
        value if isinstance(value, str) else f"{field.replace('_', ' ')} {value}"
        for field, value in case.items()
        if field != "fingerprint"
    )


def _timed(compute: Callable[..., Row], case: Row) -> Row:
    started = time.perf_counter()
    with warnings.catch_warnings():
        # Rows have R-hat; a warning about slow chains would break the progress bar.
        warnings.simplefilter("ignore", ConvergenceWarning)
        numbers = compute(**case)
    seconds = round(time.perf_counter() - started, 2)
    return {**numbers, "seconds": seconds, "versions": _versions()}


@cache
def _versions() -> Row:
    """Return the versions that can change the last digits."""
    packages = {name: metadata.version(name) for name in ("jax", "numpy", "scikit-learn")}
    return {"python": platform.python_version(), "vebnn": vebnn.__version__, **packages}


def r_hat(model: Any) -> float | None:
    """Return R-hat of a fitted model's predictions, or ``None`` for engines without chains."""
    diagnostics = model.diagnostics_
    return None if diagnostics is None else round(diagnostics.typical_r_hat, 3)
