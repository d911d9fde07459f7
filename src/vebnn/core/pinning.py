"""Processes that are held to a core of their own; Linux only."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from platform import node


def take_free_core() -> None:
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
    """Keep all threads of this process, and all processes it starts, to some cores."""
    for thread in os.listdir("/proc/self/task"):
        with suppress(ProcessLookupError):  # a thread that has just ended
            os.sched_setaffinity(int(thread), cores)
