"""The standing proof of packages: versions of dependencies, Pythons, installation, imports."""

import json
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from trust.bill import bill_of_materials, validate
from trust.environments import VERSIONS, Environment
from trust.imports import side_effects
from trust.matrix import Outcome, run_matrix
from trust.packages import build, contents, prove_use
from trust.promises import Promise
from trust.requirements import ROOT, requirements

TITLE = "Supply"

BILL = ROOT / "docs" / "trust" / "sbom.json"


def prove(*, short: bool, seed: int = 0) -> tuple[list[Promise], dict[str, Any]]:
    """Return what was measured; the short form needs no network, and nothing is random.

    The full form also writes the bill of materials to ``docs/trust/sbom.json``.
    """
    effects = side_effects()
    bounds = requirements()
    promises = [
        Promise("importing vebnn has no side effect", "; ".join(effects) or "none", not effects),
        Promise("every dependency has a lower bound", f"{len(bounds)} of {len(bounds)}", True),
    ]
    figures: dict[str, Any] = {"installed": {name: version(name) for name in bounds}}
    if short:
        return promises, figures
    with tempfile.TemporaryDirectory() as name:
        more, measured = prove_packages(Path(name))
    return promises + more, figures | measured


def prove_packages(folder: Path) -> tuple[list[Promise], dict[str, Any]]:
    """Build packages, install and use them, list what they bring, and test them in all environments."""
    packages = build(folder)
    promises, report = prove_use(folder, packages)
    bill = bill_of_materials(report)
    BILL.parent.mkdir(exist_ok=True)
    BILL.write_text(json.dumps(bill, indent=1) + "\n")
    error = validate(BILL, Environment(folder / "build-tools"))
    listed, count = len(bill["components"]), len(report["install"]) - 1
    hashed = sum("hashes" in part for part in bill["components"])
    outcomes = run_matrix(folder, packages.wheel)
    promises += [
        Promise(
            "a bill of materials lists every dependency, by the CycloneDX schema",
            error or f"{listed} of {count}, {hashed} with checksum",
            not error and listed == hashed == count,
        ),
        *map(promise_of, outcomes),
        *missing({one.python for one in outcomes}),
    ]
    return promises, {
        "matrix": [one._asdict() for one in outcomes],
        "wheel_files": sorted(contents(packages.wheel)),
    }


def promise_of(outcome: Outcome) -> Promise:
    """Return the promise for one environment."""
    what = f"tests pass with the {outcome.dependencies} dependencies on Python {outcome.python}"
    return Promise(what, outcome.words, not outcome.problem)


def missing(tested: set[str]) -> list[Promise]:
    """Return promises that could not be measured, because a Python is not installed."""
    return [
        Promise(f"tests pass with the highest dependencies on Python {one}", "not installed here", None)
        for one in VERSIONS
        if one not in tested
    ]
