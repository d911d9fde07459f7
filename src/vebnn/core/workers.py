"""Worker processes: many fits or simulations at once, on this machine, on a Dask cluster or on Ray.

A fleet runs the folds, chains and learning rates of one fit on all cores. Many fits finish sooner side
by side, one core each, because no fit waits for another.
"""

import os
import signal
import stat
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from platform import node
from typing import Any, TypeVar

import joblib

from vebnn.core.arguments import require_one_of, require_whole
from vebnn.core.devices import available_cores

Case = TypeVar("Case")
Result = TypeVar("Result")

BACKENDS = ("local", "dask", "ray")
# One core per case. A worker reads these when it imports vebnn and JAX. Without PJRT_NPROC XLA splits
# elementwise work over all cores, workers wait for each other, and each fit takes twice as long.
_ONE_CORE = {
    "VEBNN_CPU_DEVICES": "1",
    "PJRT_NPROC": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}


def spread(
    function: Callable[[Case], Result],
    cases: Sequence[Case],
    *,
    backend: str = "local",
    jobs: int | None = None,
    scheduler: str | None = None,
) -> Generator[tuple[Case, Result], None, None]:
    """Yield (case, function(case)) as they are finished; not in order.

    With one local job, this process does the work. Several are fresh processes; Ctrl-C or closing the
    generator ends them at once, and they exit when this process is killed.

    Args:
      function: importable by other processes.
      cases: their arguments.
      backend: ``"local"`` (processes of this machine), ``"dask"`` or ``"ray"``.
      jobs: how many at once; ``None`` takes as many as there are cores, or the cluster has.
      scheduler: address of a running Dask scheduler or Ray head; ``None`` starts one here.

    Raises:
      ChildProcessError: if a worker process is killed.
    """
    require_one_of("backend", backend, BACKENDS)
    if jobs is not None:
        require_whole("jobs", jobs, 1)
    work = partial(_work, function, list(sys.path))
    tasks = [joblib.delayed(work)(number, case) for number, case in enumerate(cases)]
    with _parallel(backend, jobs or available_cores(), scheduler) as parallel:
        size = len(tasks) or 1
        if not parallel.return_generator:  # a chunk's results come together: keep it small
            size = parallel.n_jobs if parallel.n_jobs > 0 else available_cores()
        for start in range(0, len(tasks), size):
            with _results(parallel, tasks[start : start + size]) as results:
                for number, result in results:
                    yield cases[number], result


def _work(function: Callable, path: list[str], number: int, case: Any) -> tuple[int, Any]:
    # A worker finds the modules that the caller finds: a method of the user's own, for example.
    sys.path.extend(folder for folder in path if folder not in sys.path)
    return number, function(case)


@contextmanager
def _results(parallel: joblib.Parallel, tasks: list) -> Iterator[Iterable[tuple[int, Any]]]:
    """Start tasks; on an early end, stop those that are left."""
    if not parallel.return_generator:
        yield parallel(tasks)
        return
    with ExitStack() as stack:
        with interrupts_blocked():
            results = parallel(tasks)
            stack.callback(_close, results)
        try:
            yield results
        except BrokenProcessPool as error:
            raise ChildProcessError(
                "A worker process was killed, perhaps for lack of memory. Run the same again, with "
                "fewer workers if memory is short; finished results are kept."
            ) from error


def _close(results: Generator) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # joblib's, of cancelled tasks
        results.close()


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Start processes that Ctrl-C in a terminal does not reach; this one then decides what to do."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare_worker(parent: int, alone: bool) -> None:
    """Have a new worker ignore Ctrl-C, exit with its parent and, if it can be alone, take a core."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with, args=(parent,), daemon=True).start()
    if alone and hasattr(os, "sched_setaffinity"):  # only Linux has it
        _take_free_core()


def _exit_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _take_free_core() -> None:
    """Pin this process to a core that no other worker holds.

    XLA computes on threads of its own, and hands programs from one to the next. Unpinned, two workers
    often meet on one core while another is idle. The system drops a lock when its process ends, however
    that ends, so that the next worker finds the core free. Where locks are impossible, do not pin.
    """
    import fcntl

    with suppress(OSError):
        folder = _lock_folder()
        for core in sorted(os.sched_getaffinity(0)):
            with suppress(OSError):
                # Homes are shared between machines, cores are not.
                flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
                lock = os.open(f"{node()}-{core}", flags, 0o600, dir_fd=folder)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    os.close(lock)
                    continue
                pin({core})
                return


def _lock_folder() -> int:
    """Open a folder that only this user can write to; raise OSError if there is none."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vebnn"
    cache.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        (cache / "cores").mkdir(mode=0o700)
    folder = os.open(cache / "cores", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    found = os.fstat(folder)
    if found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"Other users can write to {cache / 'cores'}.")
    return folder


def pin(cores: Iterable[int]) -> None:
    """Keep all threads of this process, and all processes it starts, to some cores; Linux only."""
    for thread in os.listdir("/proc/self/task"):
        with suppress(ProcessLookupError):  # a thread that has just ended
            os.sched_setaffinity(int(thread), cores)


@contextmanager
def _parallel(backend: str, jobs: int, scheduler: str | None) -> Iterator[joblib.Parallel]:
    with ExitStack() as stack:
        if backend != "local" or jobs > 1:  # one local job runs here: leave this process as it is
            chosen = {name: os.environ.get(name, value) for name, value in _ONE_CORE.items()}
            stack.enter_context(environment(chosen))
        options: dict[str, Any] = {"return_as": "generator_unordered"}
        try:
            if backend == "local":
                settings = os.getpid(), jobs <= available_cores()
                start = {"initializer": _prepare_worker, "initargs": settings}
                stack.enter_context(joblib.parallel_config("loky", n_jobs=jobs, **start))
            elif backend == "dask":
                stack.enter_context(_dask_client(jobs, scheduler))
                stack.enter_context(joblib.parallel_config("dask"))
            else:
                _start_ray(jobs, scheduler)
                stack.enter_context(joblib.parallel_config("ray", n_jobs=jobs))
                options = {}  # Ray's backend has no generators
        except ImportError as error:
            raise ValueError(
                f"The backend {backend!r} is not installed. Install it: pip install 'vebnn[{backend}]'."
            ) from error
        yield joblib.Parallel(pre_dispatch="2*n_jobs", batch_size=1, **options)


def _dask_client(jobs: int, scheduler: str | None) -> AbstractContextManager:
    from distributed import Client

    local: dict[str, Any] = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": None}
    return Client(scheduler, **({} if scheduler else local))


def _start_ray(jobs: int, scheduler: str | None) -> None:
    import ray
    from ray.util.joblib import register_ray

    register_ray()
    if not ray.is_initialized():
        local: dict[str, Any] = {"num_cpus": jobs, "include_dashboard": False}
        variables = {"env_vars": _ONE_CORE}
        ray.init(address=scheduler, runtime_env=variables, **({} if scheduler else local))


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for the processes that are started inside."""
    before = {name: os.environ[name] for name in variables if name in os.environ}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name, None)
        os.environ.update(before)
