"""Rows of results in a file that a second run of the same command goes on with.

One JSON object per line, written as soon as it is known. Every row carries a stamp: the version, the
settings and a digest of the code that computes. Rows with another stamp stay in the file, but are not
mixed with those of this run unless one asks for it, knowing what has changed.
"""

import hashlib
import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning

import vebnn

Row = dict[str, Any]

# What turns numbers into pictures and tables cannot change the numbers.
_ROOMS_THAT_DO_NOT_COUNT = (
    *("acquisition/", "cli/", "comparison/", "plots/", "report/", "service/", "sheets/"),
    *("simulators/", "tables/"),
    *("experiments/results.py", "experiments/workers.py"),
)
# What a stamp says of the code.
_CODE = ("version", "source")


@cache
def source_digest() -> str:
    """Return a digest of the package's code: any change of it makes new rows necessary."""
    root = Path(vebnn.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(_ROOMS_THAT_DO_NOT_COUNT):
            digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def stamp(experiment: str, **settings: Any) -> Row:
    """Return what rows must agree on to belong together."""
    return {
        "experiment": experiment,
        "version": vebnn.__version__,
        "source": source_digest(),
        "settings": settings,
    }


@dataclass(frozen=True)
class ResultsFile:
    """A file of rows, one JSON object per line.

    Args:
      path: the file; it and its folder are made when the first row comes.
      stamp: what the rows of this run have in common.
      mix: whether rows that other code made count, too.
    """

    path: Path
    stamp: Mapping[str, Any]
    mix: bool = False

    def rows(self) -> list[Row]:
        """Return the rows of this run, in the order they were written.

        Raises:
          ValueError: if a line is not a JSON object.
        """
        rows = [json_object(self.path, *line) for line in enumerate(self._whole_lines(), start=1)]
        mine = json.loads(json.dumps(dict(self.stamp)))
        if self.mix:
            mine = {name: value for name, value in mine.items() if name not in _CODE}
        return [row for row in rows if all(row.get(name) == value for name, value in mine.items())]

    def append(self, row: Row) -> Row:
        """Write one row to the end of the file and to the disk; return it with its stamp."""
        stamped = {**self.stamp, **row}
        line = json.dumps(stamped, allow_nan=False) + "\n"
        whole = sum(map(len, self._whole_lines()))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab") as file:
            # A line that an interrupted run left half written makes way.
            file.truncate(whole)
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
        return stamped

    def _whole_lines(self) -> list[bytes]:
        if not self.path.exists():
            return []
        return [line for line in self.path.read_bytes().splitlines(True) if line.endswith(b"\n")]


def json_object(path: Path, number: int, line: bytes) -> Row:
    """Read one line of a results file."""
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise ValueError(
            f"Line {number} of {path} is not a JSON object. Delete the line, or choose another "
            f"file with --out."
        )
    return row


def one_by_one(function: Callable[[Row], Row], cases: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    """Yield (case, function(case)), in this process."""
    for case in cases:
        yield case, function(case)


def run_cases(
    file: ResultsFile,
    cases: Sequence[Row],
    compute: Callable[[Row], Row],
    console: Console,
    name: Callable[[Row], str],
    spread: Callable[..., Iterator[tuple[Row, Row]]] = one_by_one,
) -> list[Row]:
    """Compute the cases that the file does not have yet; return the rows of all cases, in order.

    Args:
      file: where rows are kept; only this process writes there.
      cases: what identifies each row, such as ``{"seed": 3}``.
      compute: the numbers of one case.
      console: where the progress bar is drawn.
      name: a few words on a case for the progress bar.
      spread: calls a function with every case and yields pairs of case and result, in any order.
    """

    def identity(row: Row) -> tuple:
        return tuple(row[field] for field in cases[0])

    # A case that could not be computed is tried again: perhaps its file has come.
    finished = [row for row in file.rows() if "skipped" not in row]
    found = {identity(row): row for row in finished} if cases else {}
    left = [case for case in cases if identity(case) not in found]
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=32),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        # Fits take seconds or minutes: the pace is that of all of them, not of the last few.
        TimeRemainingColumn(),
        console=console,
        speed_estimate_period=24 * 3600,
    )
    with bar:
        known = len(cases) - len(left)
        task = bar.add_task(name(left[0]) if left else "", total=len(cases), completed=known)
        for case, numbers in spread(partial(timed, compute), left):
            found[identity(case)] = file.append({**case, **numbers})
            bar.update(task, advance=1, description=name(case))
        bar.update(task, description="finished")
    return [found[identity(case)] for case in cases]


def timed(compute: Callable[[Row], Row], case: Row) -> Row:
    """Return the numbers of a case, the seconds they took, and whose work they are."""
    started = time.perf_counter()
    with quiet_chains():
        numbers = compute(case)
    seconds = round(time.perf_counter() - started, 2)
    return {**numbers, "seconds": seconds, "versions": versions()}


@cache
def versions() -> Row:
    """Return the versions that may change the last digits."""
    packages = {name: metadata.version(name) for name in ("jax", "numpy", "scikit-learn")}
    return {"python": platform.python_version(), **packages}


@contextmanager
def quiet_chains() -> Iterator[None]:
    """Keep the warning about slow chains out of the progress bar: rows have R-hat instead."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def r_hat(model: Any) -> float | None:
    """Return R-hat of a fitted model's predictions, or nothing for engines without chains."""
    diagnostics = model.diagnostics_
    return None if diagnostics is None else round(diagnostics.typical_r_hat, 3)


def average(rows: Sequence[Row], field: str) -> float:
    """Return the mean of one number over rows."""
    return sum(row[field] for row in rows) / len(rows)


def mean_and_std(rows: Sequence[Row], field: str, style: str) -> str:
    """Return the mean of one number over rows and, if there are several, its standard deviation."""
    values = [row[field] for row in rows]
    mean = format(np.mean(values), style)
    decimals = len(mean.partition(".")[2])
    return f"{mean} ± {np.std(values, ddof=1):.{decimals}f}" if len(values) > 1 else mean


def wide_table(title: str, caption: str, columns: Sequence[str]) -> Table:
    """Return an empty table with many columns: words in the first, numbers in the others."""
    table = Table(
        title=title,
        caption=caption,
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 0),
    )
    first, *others = columns
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right")
    return table
