"""The command line, called as a user calls it; and the promise that every journey checks."""

import json
import shlex
import subprocess
import sys
from typing import Any

RIGHT_COVERAGE = (0.92, 0.98)  # of 95 % ranges on held-out rows


def vebnn(*arguments: str) -> str:
    """Run a command; return what it printed."""
    print(f"$ vebnn {shlex.join(arguments)}", flush=True)
    finished = subprocess.run(
        [sys.executable, "-m", "vebnn.cli", *arguments], capture_output=True, text=True, check=False
    )
    if finished.returncode:
        raise RuntimeError(finished.stderr)
    return finished.stdout


def fit(*arguments: str) -> dict[str, Any]:
    """Run ``vebnn fit``; return its JSON document."""
    return json.loads(vebnn("fit", *arguments, "--json"))


def check_coverage(what: str, shares: list[tuple[float, int]]) -> None:
    """Check the coverage of 95 % ranges over all fits, from coverages and numbers of rows."""
    total = sum(number for _, number in shares)
    coverage = sum(share * number for share, number in shares) / total
    print(f"{what}: {coverage:.1%} of {total} held-out values are in their 95 % range", flush=True)
    assert RIGHT_COVERAGE[0] <= coverage <= RIGHT_COVERAGE[1], (what, coverage)


def shares_of(document: dict[str, Any]) -> list[tuple[float, int]]:
    """Return the coverage and the number of held-out rows of each target of a fit."""
    return [(score["coverage"], score["num_rows"]) for score in document["scores"]]
