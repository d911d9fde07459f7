"""Locks on files and folders. The system drops a lock when its owner ends, however that ends."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows: nothing is locked
    fcntl = None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file or folder; wait for it if another process or thread holds it.

    Where the file system has no locks, nothing is locked.
    """
    if fcntl is None:
        yield
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def has_no_owner(path: Path) -> bool:
    """Return whether nobody holds the lock of a file or folder; False where that is unknown."""
    if fcntl is None:
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
