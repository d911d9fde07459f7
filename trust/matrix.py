"""Tests with the lowest and the highest allowed dependencies: ``python -m trust.matrix``.

The lowest versions are tested on the oldest Python, the highest on every Python that is installed.
"""

import re
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from trust.environments import VERSIONS, Environment, Failed, pythons, run
from trust.packages import build
from trust.requirements import lowest

# Every engine; dtypes, containers and frames; the command line from a CSV file to predictions.
SMOKE = (
    "tests/contracts/test_engines.py",
    "tests/estimators/test_properties.py",
    "tests/tabular/service/test_limits.py",
    "tests/e2e/test_tables.py::test_help_fits_a_small_screen",
    "tests/e2e/test_tables.py::test_fit_prints_columns_and_scores",
    "tests/e2e/test_tables.py::test_predict_writes_what_the_model_says",
    "tests/e2e/test_tables.py::test_serve_on_a_port_that_is_taken",
)


class Outcome(NamedTuple):
    """The tests in one environment."""

    dependencies: str  # lowest or highest
    python: str
    passed: int
    problem: str  # empty if all passed
    versions: dict[str, str]

    @property
    def words(self) -> str:
        """A short description of what came out."""
        return f"failed: {self.problem[-300:]}" if self.problem else f"{self.passed} tests passed"


def run_matrix(folder: Path, wheel: Path) -> list[Outcome]:
    """Test a wheel in one environment after another."""
    installed = pythons()
    # pip resolves exact versions by trial and error, for minutes.
    tools = Environment.make(folder / "tools", next(iter(installed.values())), ["uv"])
    oldest = min(installed, key=VERSIONS.index)
    outcomes = [smoke(folder, wheel, tools, "lowest", oldest, installed[oldest])]
    for version, python in installed.items():
        outcomes.append(smoke(folder, wheel, tools, "highest", version, python))
    return outcomes


def smoke(
    folder: Path, wheel: Path, tools: Environment, dependencies: str, version: str, python: Path
) -> Outcome:
    """Make one environment, run the tests in it, and remove it."""
    here = Environment(folder / f"{dependencies}-{version}")
    uv, versions = tools.folder / "bin" / "uv", dict[str, str]()
    pins = lowest(("test",)) if dependencies == "lowest" else []
    # Old releases may use what newer releases of their own dependencies call deprecated.
    lenient = ["--override-ini", "filterwarnings=default"] if pins else []
    try:
        run(uv, "venv", "--quiet", "--python", python, here.folder)
        install: list[str | Path] = [uv, "pip", "install", "--quiet", "--python", here.python]
        run(*install, f"vebnn[test] @ {wheel.resolve().as_uri()}", *pins)
        versions = here.versions()
        pytest: list[str | Path] = [
            here.python,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            *lenient,
        ]
        words, problem = run(*pytest, *SMOKE), ""
    except Failed as failure:
        words = problem = str(failure)
    finally:
        shutil.rmtree(here.folder, ignore_errors=True)
    passed = re.search(r"(\d+) passed", words)
    return Outcome(dependencies, version, int(passed[1]) if passed else 0, problem, versions)


def main() -> None:
    """Build a wheel, test it everywhere, and exit with 1 if a test failed."""
    with tempfile.TemporaryDirectory() as name:
        outcomes = run_matrix(Path(name), build(Path(name)).wheel)
    for one in outcomes:
        Console().print(f"{one.dependencies} dependencies, Python {one.python}: {one.words}")
    raise SystemExit(any(one.problem for one in outcomes))


if __name__ == "__main__":
    main()
