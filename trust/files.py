"""The standing proof against damaged and hostile files.

Models, checkpoints, results, pickles and tables are changed at random and read. A reader must refuse a
file in a sentence or give what the whole file would have given. It must not execute anything, crash,
hang, or take much memory.
"""

import multiprocessing
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from trust.promises import Promise
from trust.readers import Kind, prepare

TITLE = "Damaged and hostile files"
COUNT, SHORT_COUNT = 5_000, 60  # changed models, checkpoints and results; as many pickles
SECONDS = 20  # a reader that takes longer hangs
MOST_MEGABYTES = 1024
EXECUTIONS = ("os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "pickle.find_class")


@contextmanager
def watched() -> Iterator[list[str]]:
    """Note every attempt to execute something, and stop a reader that hangs."""
    executed: list[str] = []
    active = [True]

    def note(event: str, _: Any) -> None:
        if active[0] and event in EXECUTIONS:
            executed.append(event)

    sys.addaudithook(note)

    def stop(*_: Any) -> None:
        raise TimeoutError("hang")

    before = signal.signal(signal.SIGALRM, stop)
    yield executed
    active[0] = False
    signal.signal(signal.SIGALRM, before)


def outcome_of(kind: Kind, folder: Path, whole: Any) -> str:
    """Read a changed copy; return what came of it."""
    signal.alarm(SECONDS)
    try:
        found = kind.read(folder)
    except TimeoutError:
        return "hang"
    except (ValueError, ImportError, OSError):
        return "refused"
    except Exception as error:
        return f"traceback: {type(error).__name__}"
    finally:
        signal.alarm(0)
    return "the same" if found == whole else "another"


def try_kind(kind: Kind, folder: Path, count: int, seed: int) -> dict[str, Any]:
    """Change and read files of one kind; return its figures."""
    chance, number = random.Random(f"{seed} {kind.name}"), max(1, round(kind.share * count))
    with watched() as executed:
        whole, outcomes, slowest = kind.read(folder / kind.name), Counter[str](), 0.0
        executed.clear()
        before = _megabytes()
        for _ in range(number):
            shutil.copytree(folder / kind.name, copy := folder / "copy")
            kind.change(chance, copy)
            started = time.monotonic()
            outcomes[outcome_of(kind, copy, whole)] += 1
            slowest = max(slowest, time.monotonic() - started)
            shutil.rmtree(copy)
        return {
            "number": number,
            "outcomes": dict(outcomes),
            "executed": len(executed),
            "megabytes": round(_megabytes() - before),
            "slowest_seconds": round(slowest, 2),
            "raw": kind.raw,
        }


def run(count: int, seed: int) -> dict[str, Any]:
    """Change files ``count`` times, some kinds more often than others; return the figures of each kind.

    Another process reads them: a library in C may crash.
    """
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        pool = stack.enter_context(_new_process())
        for kind in pool.submit(prepare, folder).result():
            try:
                figures[kind.name] = pool.submit(try_kind, kind, folder, count, seed).result()
            except BrokenProcessPool:
                crash = {"number": 1, "outcomes": {"crash": 1}, "executed": 0, "megabytes": 0}
                figures[kind.name] = {**crash, "slowest_seconds": 0.0, "raw": kind.raw}
                shutil.rmtree(folder / "copy", ignore_errors=True)
                pool = stack.enter_context(_new_process())
    return figures


def _new_process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def promises_of(figures: dict[str, Any]) -> list[Promise]:
    """Return what the figures show."""
    every = sum((Counter(one["outcomes"]) for one in figures.values()), Counter())
    raw = sum((Counter(one["outcomes"]) for one in figures.values() if one["raw"]), Counter())
    numbers = {
        word: sum(one["number"] for name, one in figures.items() if word in name)
        for word in ("model", "checkpoint", "results", "pickle", "table")
    }
    counted = ", ".join(f"{number:,} × {word}" for word, number in numbers.items())
    executed = sum(one["executed"] for one in figures.values())
    memory = max(one["megabytes"] for one in figures.values())
    slowest = max(one["slowest_seconds"] for one in figures.values())
    tracebacks = sum(number for name, number in every.items() if name.startswith("traceback"))
    crashed = [name for name, one in figures.items() if "crash" in one["outcomes"]]
    return [
        Promise(
            "No damaged or mixed model or checkpoint gives another result",
            f"{raw['another']} of {raw.total():,}; {raw['refused']:,} are refused",
            not raw["another"],
        ),
        Promise("Nothing in a file is executed", f"{executed} of {every.total():,}", not executed),
        Promise(
            f"No reader takes more than {SECONDS} s",
            f"{every['hang']} of {every.total():,}; slowest {slowest:.2f} s",
            not every["hang"],
        ),
        Promise(
            "A reader refuses in a sentence",
            f"{tracebacks} tracebacks of {every.total():,} ({counted})",
            not tracebacks,
        ),
        Promise("No reader crashes", ", ".join(crashed) or "none", not crashed),
        Promise("A reader takes less than 1 GiB", f"at most {memory} MB", memory < MOST_MEGABYTES),
    ]


def prove(*, short: bool, seed: int = 0) -> tuple[list[Promise], dict[str, Any]]:
    """Read more than 10,000 changed files; in short more than a hundred."""
    kinds = run(SHORT_COUNT if short else COUNT, seed)
    outcomes = ("refused", "the same", "another")
    table = [
        {
            "files": name,
            "changed": one["number"],
            **{outcome: one["outcomes"].get(outcome, 0) for outcome in outcomes},
            "slowest (s)": one["slowest_seconds"],
            "memory (MB)": one["megabytes"],
        }
        for name, one in kinds.items()
    ]
    return promises_of(kinds), {"table": table, "kinds": kinds}
