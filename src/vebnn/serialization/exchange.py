"""Exchange the names of two folders in one step, where the system can."""

import ctypes
import errno
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # <fcntl.h>, <linux/fs.h>
_IMPOSSIBLE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)


def exchange(first: Path, second: Path) -> bool:
    """Exchange two names; return False, with nothing done, where the system or disk cannot do so."""
    if (rename := _rename()) is None:
        return False
    names = os.fsencode(first), os.fsencode(second)
    if rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
        return True
    if (code := ctypes.get_errno()) in _IMPOSSIBLE:
        return False
    raise OSError(code, os.strerror(code), str(second))


@cache
def _rename() -> Any:
    """Return Linux's ``renameat2``, which Python does not offer, or nothing."""
    if sys.platform != "linux":
        return None
    return getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
