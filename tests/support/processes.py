"""Whether other processes are still there."""

import os
import time
from collections.abc import Sequence
from pathlib import Path


def wait_until_gone(processes: Sequence[int], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while any(_is_alive(process) for process in processes):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False
