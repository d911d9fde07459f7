"""Worker processes, one per core, that leave no orphans."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

import jax

Task = TypeVar("Task")
Result = TypeVar("Result")


def work_off(
    function: Callable[[Task], Result], tasks: Sequence[Task], num_workers: int
) -> Generator[tuple[int, Result], None, None]:
    """Yield the number of a task and its result, as they come.

    One worker is this process itself. Several are fresh processes, each with one thread: a program
    that waits for no other core is what fills all of them best.

    Raises:
      ChildProcessError: if a worker is killed.
    """
    if num_workers == 1:
        for number, task in enumerate(tasks):
            yield number, function(task)
        return
    # A fork of a process in which JAX has started its threads may hang.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(num_workers, max(1, len(tasks))), context, _start_worker)
    try:
        with _control_c_can_wait():
            numbers = {pool.submit(function, task): number for number, task in enumerate(tasks)}
        for finished in as_completed(numbers):
            yield numbers[finished], finished.result()
    except BrokenProcessPool as error:
        raise ChildProcessError(
            "A worker process was killed, perhaps for lack of memory. Run the same again, with fewer "
            "workers if that is so; what is done is kept."
        ) from error
    finally:
        # After Ctrl-C or an error only what is under way is waited for.
        pool.shutdown(cancel_futures=True)


@contextmanager
def _control_c_can_wait() -> Iterator[None]:
    """Start processes that do not hear Ctrl-C, which goes to all processes of a terminal.

    This one alone decides what becomes of it, and hears it as soon as they are started.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    os.environ["NPROC"] = "1"  # the number of XLA's threads
    jax.config.update("jax_num_cpu_devices", 1)


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
