"""The real command line, in processes of its own."""

import os
import subprocess
import sys
from pathlib import Path

Finished = subprocess.CompletedProcess

COMMAND = [sys.executable, "-m", "vebnn.cli"]


def environment(**changes: str) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if name != "VEBNN_DATA"}
    return {**plain, "COLUMNS": "160", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1", **changes}


def run(*arguments: str, cwd: Path | None = None, **changes: str) -> Finished:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def one_sentence(finished: Finished) -> str:
    """Return the complaint of a command that failed the way a user should see it."""
    assert finished.returncode == 2, finished.stderr
    assert finished.stdout == ""
    lines = finished.stderr.splitlines()
    assert len(lines) == 1, finished.stderr
    assert lines[0].startswith("vebnn: ")
    assert lines[0].endswith(".")
    return lines[0]
