"""Many fits at once: on the cores of this machine, on a Dask cluster or on Ray.

A fleet already runs the folds, chains and learning rates of one fit on all cores. Where there are
many fits, whole fits side by side, one core each, keep the cores busier: nobody waits for anybody.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import IO, Any

import joblib

from vebnn.core.arguments import require_one_of, require_whole
from vebnn.core.devices import available_cores

BACKENDS = ("local", "dask", "ray")
# One core per fit. Read by a worker when it first imports vebnn and JAX. Without PJRT_NPROC XLA cuts
# elementwise work in as many pieces as there are cores, and workers wait for each other's cores: each
# fit then takes twice as long.
_ONE_CORE = {
    "VEBNN_CPU_DEVICES": "1",
    "PJRT_NPROC": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}


def spread(
    function: Callable[[Any], Any],
    cases: Sequence[Any],
    *,
    backend: str = "local",
    jobs: int | None = None,
    scheduler: str | None = None,
) -> Iterator[tuple[Any, Any]]:
    """Yield (case, function(case)) as they are finished; not in order.

    Args:
      function: importable by other processes.
      cases: their arguments.
      backend: ``"local"`` (processes of this machine), ``"dask"`` or ``"ray"``.
      jobs: how many at once; ``None`` takes as many as there are cores, or the cluster has.
      scheduler: address of a running Dask scheduler or Ray head; ``None`` starts one here.
    """
    require_one_of("backend", backend, BACKENDS)
    if jobs is not None:
        require_whole("jobs", jobs, 1)
    jobs = jobs or available_cores()
    # Machines of a cluster are not ours: their workers go on to other work.
    alone = backend == "local" and jobs <= available_cores()
    with _parallel(backend, jobs, scheduler) as parallel:
        work = partial(_with_case, function, path=list(sys.path), keep_to_a_core=alone)
        tasks = [joblib.delayed(work)(case) for case in cases]
        for chunk in _chunks(tasks, parallel):
            yield from parallel(chunk)


def _with_case(
    function: Callable[[Any], Any], case: Any, path: list[str], keep_to_a_core: bool
) -> tuple[Any, Any]:
    if keep_to_a_core:
        _held_core()
    # A worker finds the modules that the caller finds: a method of the user's own, for example.
    sys.path.extend(folder for folder in path if folder not in sys.path)
    return case, function(case)


@cache
def _held_core() -> IO | None:
    """Keep this process, from now on, to a core that no other worker keeps to; return its lock.

    XLA computes on threads of its own, and hands programs from one to the next. Left alone, these
    wander, and two workers meet on one core while the other is idle. A lock goes with the process that
    holds it, however that ends, so that a worker's successor finds its core free.
    """
    if not hasattr(os, "sched_setaffinity"):  # only Linux has it
        return None
    import fcntl

    folder = Path(tempfile.gettempdir()) / f"vebnn-cores-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    for core in sorted(os.sched_getaffinity(0)):
        lock = open(folder / str(core), "w")  # noqa: SIM115
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            continue
        for thread in os.listdir("/proc/self/task"):
            os.sched_setaffinity(int(thread), {core})
        return lock
    return None


def _chunks(tasks: list, parallel: joblib.Parallel) -> Iterable[list]:
    """Return all tasks at once, or few at a time where finished ones are not handed over early."""
    if parallel.return_generator or not tasks:
        return [tasks]
    size = parallel.n_jobs if parallel.n_jobs > 0 else available_cores()
    return [tasks[start : start + size] for start in range(0, len(tasks), size)]


@contextmanager
def _parallel(backend: str, jobs: int, scheduler: str | None) -> Iterator[joblib.Parallel]:
    with ExitStack() as stack:
        stack.enter_context(_environment(_ONE_CORE))
        options: dict[str, Any] = {"return_as": "generator_unordered"}
        if backend == "local":
            stack.enter_context(joblib.parallel_config("loky", n_jobs=jobs))
        elif backend == "dask":
            stack.enter_context(_dask(jobs, scheduler))
            stack.enter_context(joblib.parallel_config("dask"))
        else:
            _start_ray(jobs, scheduler)
            stack.enter_context(joblib.parallel_config("ray", n_jobs=jobs))
            options = {}  # Ray's backend has no generators
        yield joblib.Parallel(pre_dispatch="2*n_jobs", batch_size=1, **options)


@contextmanager
def _dask(jobs: int, scheduler: str | None) -> Iterator[None]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ValueError(
            'The backend "dask" needs the package distributed. Install it with: '
            "pip install 'vebnn[dask]'."
        ) from None
    if scheduler is not None:
        with Client(scheduler):
            yield
        return
    with (
        LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        yield


def _start_ray(jobs: int, scheduler: str | None) -> None:
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError:
        raise ValueError(
            "The backend \"ray\" needs the package ray. Install it with: pip install 'vebnn[ray]'."
        ) from None
    register_ray()
    if not ray.is_initialized():
        local: dict[str, Any] = {"num_cpus": jobs, "include_dashboard": False}
        environment = {"env_vars": _ONE_CORE}
        ray.init(address=scheduler, runtime_env=environment, **({} if scheduler else local))


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set variables for the processes that are started meanwhile, unless the user has set them."""
    new = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            del os.environ[name]
