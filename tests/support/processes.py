"""Commands that run beside the test, and whether processes are still there."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.support.commands import environment


def start(*arguments: str) -> subprocess.Popen:
    # A shell that starts tests in the background has their children ignore Ctrl-C.
    listen = "import signal as s; s.signal(s.SIGINT, s.default_int_handler)"
    return subprocess.Popen(
        [sys.executable, "-c", f"{listen}; from vebnn.cli import app; app()", *arguments],
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # like a terminal: a signal goes to the command and its workers
    )


def wait_for(happened: Callable[[], bool], process: subprocess.Popen) -> None:
    """Wait for an event; fail if the process ends before it."""
    while not happened():
        assert process.poll() is None
        time.sleep(0.005)


def children_of(pid: int) -> list[int]:
    words = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(word) for word in words]


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
