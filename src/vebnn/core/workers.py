"""Worker processes: many fits or simulations at once, on this machine, on a Dask cluster or on Ray.

A fleet runs the folds, chains and learning rates of one fit on all cores. Many fits finish sooner side
by side, one core each, because no fit waits for another.
"""

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from numbers import Integral
from typing import Any, TypeVar

import joblib
from joblib.parallel import LokyBackend, MultiprocessingBackend

from vebnn.core.arguments import require_one_of, require_whole
from vebnn.core.devices import available_cores
from vebnn.core.pinning import take_free_core

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


def parts_of_a_fit() -> dict[str, str]:
    """Return the variables of workers that deal with parts of a fit of this process.

    As many devices as here, however few cores: XLA compiles for a number of threads, and another one
    changes the last bits of wide networks. They need not be idle cores: all but one have nothing to do.
    """
    import jax  # not with this module: importing vebnn need not import it

    return {"VEBNN_CPU_DEVICES": str(max(2, jax.local_device_count())), "PJRT_NPROC": "1"}


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
    with active_backend(backend, jobs or available_cores(), scheduler), Workers() as workers:
        size = workers.at_once or len(tasks) or 1
        for start in range(0, len(tasks), size):
            with workers.results(tasks[start : start + size]) as results:
                for number, result in results:
                    yield cases[number], result


def _work(function: Callable, path: list[str], number: int, case: Any) -> tuple[int, Any]:
    # A worker finds the modules that the caller finds: a method of the user's own, for example.
    sys.path.extend(folder for folder in path if folder not in sys.path)
    return number, function(case)


class Workers:
    """Workers of joblib's active backend, for one call after another."""

    def __enter__(self) -> "Workers":
        backend, _ = joblib.parallel.get_active_backend()
        options: dict[str, Any] = {"return_as": "generator_unordered"}
        if not backend.supports_return_generator:  # Ray's
            options = {}
        if getattr(backend, "ray_remote_args", ()) is None:
            # Otherwise Ray's pool waits for ever for a worker that died.
            backend.ray_remote_args = {"max_restarts": 3, "max_task_retries": 3}
        self._dask = backend if hasattr(backend, "client") else None
        if self._dask:
            _leave_to_workers(self._dask)
        self._parallel = joblib.Parallel(pre_dispatch="2*n_jobs", batch_size=1, **options)
        with interrupts_blocked():
            self._parallel.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            self._parallel.__exit__(*error)
        finally:
            if self._dask:
                vars(self._dask).pop("effective_n_jobs", None)

    def restart(self) -> None:
        """Replace those that are lost."""
        self.__exit__(None, None, None)
        self.__enter__()

    @property
    def at_once(self) -> int | None:
        """How many tasks to start at once, so that results come early; None leaves it to joblib."""
        if self._parallel.return_generator:
            return None
        return self._parallel.n_jobs if self._parallel.n_jobs > 0 else available_cores()

    @contextmanager
    def results(self, tasks: list) -> Iterator[Iterable[Any]]:
        """Start tasks; on an early end, stop those that are left."""
        if not self._parallel.return_generator:
            yield self._parallel(tasks)
            return
        with ExitStack() as stack:
            with interrupts_blocked():
                results = self._parallel(tasks)
                stack.callback(_close, results)
            try:
                yield results
            except BrokenProcessPool as error:
                raise ChildProcessError(
                    "A worker process was killed, perhaps for lack of memory. Run the same again, with "
                    "fewer workers if memory is short; finished results are kept."
                ) from error


@contextmanager
def workers_of_fit(n_jobs: int | None) -> Iterator[Workers | None]:
    """Yield the workers that deal with the parts of one fit; None if this process does all.

    These are the workers of joblib's active backend. Without one, ``n_jobs`` of -1 or above 1 starts
    processes of this machine.
    """
    backend, active = joblib.parallel.get_active_backend()
    jobs = n_jobs or active or backend.default_n_jobs
    local = isinstance(backend, LokyBackend)
    jobs = backend.effective_n_jobs(jobs) if local else jobs
    inside = n_jobs is None and _in_dask_task()
    if jobs == 1 or getattr(backend, "supports_sharedmem", False) or inside:
        yield None
        return
    if type(backend) is MultiprocessingBackend:
        raise ValueError(
            "The joblib backend of a fit must start fresh processes, because JAX cannot compute in "
            'forked ones. Got "multiprocessing"; use "loky", "dask" or "ray".'
        )
    start = active_backend("local", jobs, None, parts_of_a_fit()) if local else nullcontext()
    with start, Workers() as workers:
        yield workers


def backend_of_fit(backend: str, jobs: int | None, scheduler: str | None) -> AbstractContextManager:
    """Return a context in which one fit is shared by the workers of a cluster; ``"local"`` is none."""
    require_one_of("backend", backend, BACKENDS)
    if backend != "local":
        return active_backend(backend, jobs or available_cores(), scheduler, parts_of_a_fit())
    if scheduler is not None:
        raise ValueError(
            f"The `scheduler` is that of a Dask or Ray cluster. Got {scheduler!r} with the local "
            "backend; name the backend, too."
        )
    return nullcontext()


def require_jobs(n_jobs: Any) -> None:
    """Refuse what is no number of workers."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(
            "The `n_jobs` must be None, a whole number above 0, or -1 for one worker per core. Got "
            f"{n_jobs!r}."
        )


def _in_dask_task() -> bool:
    """Return whether this thread does a task of Dask: a fit in there is one of many, and stays."""
    dask = sys.modules.get("distributed.utils")
    return dask is not None and hasattr(dask.thread_state, "execution_state")


def _leave_to_workers(backend: Any) -> None:
    """Have Dask's only worker do the work, though joblib would do it here rather than there.

    A cluster has one worker from the start, or when the others have died.
    """
    count = type(backend).effective_n_jobs
    backend.effective_n_jobs = lambda n_jobs: max(2, count(backend, n_jobs))


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
        take_free_core()


def _exit_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


@contextmanager
def active_backend(
    backend: str, jobs: int, scheduler: str | None, variables: Mapping[str, str] = _ONE_CORE
) -> Iterator[None]:
    """Make a backend joblib's active one.

    Workers that are started here have these environment variables, unless the user has set them. The
    other arguments are those of :func:`spread`.
    """
    with ExitStack() as stack:
        if backend != "local" or jobs > 1:  # one local job runs here: leave this process as it is
            chosen = {name: os.environ.get(name, value) for name, value in variables.items()}
            stack.enter_context(environment(chosen))
        try:
            if backend == "local":
                settings = os.getpid(), jobs <= available_cores()
                start = {"initializer": _prepare_worker, "initargs": settings}
                stack.enter_context(joblib.parallel_config("loky", n_jobs=jobs, **start))
            elif backend == "dask":
                with interrupts_blocked():
                    stack.enter_context(_dask_client(jobs, scheduler))
                stack.enter_context(joblib.parallel_config("dask"))
            else:
                with interrupts_blocked():
                    _start_ray(jobs, scheduler, variables)
                stack.enter_context(joblib.parallel_config("ray", n_jobs=jobs))
        except ImportError as error:
            raise ValueError(
                f"The backend {backend!r} is not installed. Install it: pip install 'vebnn[{backend}]'."
            ) from error
        yield


def _dask_client(jobs: int, scheduler: str | None) -> AbstractContextManager:
    from distributed import Client

    local: dict[str, Any] = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": ":0"}
    return Client(scheduler, **({} if scheduler else local))


def _start_ray(jobs: int, scheduler: str | None, variables: Mapping[str, str]) -> None:
    import ray
    from ray.util.joblib import register_ray

    register_ray()
    if not ray.is_initialized():
        local: dict[str, Any] = {"num_cpus": jobs, "include_dashboard": False}
        settings = {"env_vars": dict(variables)}
        ray.init(address=scheduler, runtime_env=settings, **({} if scheduler else local))


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
