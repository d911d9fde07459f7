"""Wheel and source distribution: built, compared, installed and used."""

import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

from trust.environments import Environment, pythons, run
from trust.promises import Promise
from trust.requirements import ROOT

FIGURES = ["vebnn-demo.png", "vebnn-demo.svg"]


class Packages(NamedTuple):
    """Files that a release would publish."""

    wheel: Path
    source: Path
    wheel_of_source: Path  # built from the source distribution, as other packagers do


def build(folder: Path) -> Packages:
    """Build all packages of this checkout, outside of it."""
    python = next(iter(pythons().values()))
    tools = Environment.make(folder / "build-tools", python, ["build"])
    source = folder / "source"
    # Without --wheel or --sdist, the wheel is built from the source distribution.
    run(tools.python, "-m", "build", "--outdir", source, ROOT)
    run(tools.python, "-m", "build", "--wheel", "--outdir", folder / "wheel", ROOT)
    (wheel,) = (folder / "wheel").glob("*.whl")
    (archive,) = source.glob("*.tar.gz")
    (again,) = source.glob("*.whl")
    return Packages(wheel, archive, again)


def contents(wheel: Path) -> dict[str, bytes]:
    """Return the files in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def install_alone(folder: Path, python: Path, wheel: Path) -> tuple[Environment, dict[str, Any]]:
    """Install a wheel in an empty environment, as a user does; return pip's report as well."""
    environment, report = Environment.make(folder / "empty", python), folder / "report.json"
    # An old pip leaves licences out of its report.
    run(environment.python, "-m", "pip", "install", "--quiet", "--upgrade", "pip")
    run(environment.python, "-m", "pip", "install", "--quiet", "--report", report, wheel)
    run(environment.python, "-m", "pip", "check")
    return environment, json.loads(report.read_text())


def run_demo(environment: Environment, folder: Path) -> list[str]:
    """Run ``vebnn demo`` in an environment; return the names of the files it writes."""
    run(environment.folder / "bin" / "vebnn", "demo", "--out", folder / "demo", cwd=folder)
    return sorted(path.name for path in (folder / "demo").iterdir())


def prove_use(folder: Path, packages: Packages) -> tuple[list[Promise], dict[str, Any]]:
    """Compare packages, install and use the wheel; return pip's report of the installation as well."""
    files = contents(packages.wheel)
    same = files == contents(packages.wheel_of_source)
    alone, report = install_alone(folder, next(iter(pythons().values())), packages.wheel)
    drawn = run_demo(alone, folder)
    promises = [
        Promise("wheel and source distribution hold the same files", f"{len(files)} files", same),
        Promise(
            "`vebnn demo` runs in an empty environment", f"wrote {', '.join(drawn)}", drawn == FIGURES
        ),
    ]
    return promises, report
