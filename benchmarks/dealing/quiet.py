"""Wait until other programs leave the processors alone."""

import time
from pathlib import Path

MOST = 0.2  # share of all processors that others, and idle workers, may use
LOOK = 3.0  # seconds


def wait(minutes: float) -> None:
    """Return when others use little, or after so many minutes."""
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end and busy(LOOK) > MOST:
        pass


def busy(seconds: float) -> float:
    """Return the share of the processors in use during these seconds; Linux only."""
    before = _ticks()
    time.sleep(seconds)
    idle, total = (now - then for now, then in zip(_ticks(), before, strict=True))
    return 1 - idle / total


def _ticks() -> tuple[int, int]:
    ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return ticks[3] + ticks[4], sum(ticks)  # idle or waiting for a disk
