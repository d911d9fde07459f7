"""Processes that each hold one program, to be timed in turn.

joblib's pool gives a task to whichever worker is free. Here a program keeps its process, with all that
it has compiled, and one program runs at a time.
"""

import importlib
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from vebnn.core.pinning import pin
from vebnn.core.workers import environment

# A program's jobs: a function of the job's arguments that returns a function to time, and how many
# steps that makes, or which share of the whole it does. It raises ImportError if a package is missing,
# KeyError if the program has no such job.
Jobs = Callable[..., tuple[Callable[[], Any], float]]


@dataclass(frozen=True)
class Program:
    """Something to time.

    Args:
      name: in tables.
      jobs: ``"module:function"`` within this package, see :data:`Jobs`.
      cores: how many cores it may use; vebnn makes each a device.
    """

    name: str
    jobs: str
    cores: int


@contextmanager
def held_to(cores: int) -> Iterator[None]:
    """Start processes with so many cores; libraries count them on import."""
    allowed = os.sched_getaffinity(0)
    threads = {f"{library}_NUM_THREADS": str(cores) for library in ("OPENBLAS", "OMP", "MKL")}
    pin(sorted(allowed)[:cores])
    try:
        with environment(threads):
            yield
    finally:
        pin(allowed)


class Worker:
    """The process of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, program))
        with held_to(program.cores):
            self._process.start()

    def prepare(self, *job: Any) -> str:
        """Build a job; return why that is impossible, or nothing."""
        return self._ask("prepare", job)

    def time(self) -> float:
        """Return the seconds that a step of the prepared job takes."""
        return self._ask("time", ())

    def stop(self) -> None:
        """End the process."""
        self._pipe.send(("stop", ()))
        self._process.join()

    def _ask(self, what: str, job: tuple) -> Any:
        self._pipe.send((what, job))
        answer = self._pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer


def _serve(pipe: Connection, program: Program) -> None:
    job, num_steps = None, 1
    while True:
        what, arguments = pipe.recv()
        if what == "stop":
            # Otherwise joblib's idle workers delay the end.
            for child in multiprocessing.active_children():
                child.terminate()
            return
        try:
            if what == "prepare":
                job, num_steps, answer = *_prepared(program, arguments), ""
            else:
                started = time.perf_counter()
                job()
                answer = (time.perf_counter() - started) / num_steps
        except (ImportError, KeyError) as error:
            answer = f"{type(error).__name__}: {error}"
        except Exception as error:
            answer = RuntimeError(f"{program.name}: {type(error).__name__}: {error}")
        pipe.send(answer)


def _prepared(program: Program, arguments: tuple) -> tuple[Callable[[], Any], float]:
    module, function = program.jobs.split(":")
    jobs: Jobs = getattr(importlib.import_module(f"benchmarks.speed.{module}"), function)
    return jobs(*arguments)
