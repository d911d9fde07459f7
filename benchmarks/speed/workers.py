"""Processes that each hold one program, ready to be timed in turn."""

import importlib
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

# A program's jobs: called with what identifies the job; answers a function to time and how many steps
# it makes, or which share of the whole it does. Raises ImportError where a package is missing, KeyError
# where it has no such job.
Jobs = Callable[..., tuple[Callable[[], Any], float]]


@dataclass(frozen=True)
class Program:
    """Something to time.

    Args:
      name: what tables call it.
      jobs: ``"module:function"`` within this package, see :data:`Jobs`.
      cores: how many cores it may use; vebnn makes each a device.
    """

    name: str
    jobs: str
    cores: int


@contextmanager
def held_to(cores: int) -> Iterator[None]:
    """Give the processes that are started inside no more cores; libraries ask for them on import."""
    allowed, environment = os.sched_getaffinity(0), dict(os.environ)
    os.sched_setaffinity(0, sorted(allowed)[:cores])
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = str(cores)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(environment)
        os.sched_setaffinity(0, allowed)


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
            # Processes of joblib would be waited for.
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
