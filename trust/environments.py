"""Fresh virtual environments: which Pythons there are, and what is installed."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from trust.requirements import ROOT

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
SECONDS = 3_600
_SHOW = "import sys; print('%d.%d' % sys.version_info[:2])"


class Failed(RuntimeError):
    """A command ended with an error; the message is the end of what it printed."""


def run(*words: str | Path, cwd: Path = ROOT, **variables: str) -> str:
    """Run a command without the variables of this process that choose Python's modules."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        list(map(str, words)),
        cwd=cwd,
        env=inherited | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
    )
    if done.returncode:
        raise Failed(done.stdout.strip()[-2_000:])
    return done.stdout


def pythons() -> dict[str, Path]:
    """Return the interpreters of the supported versions that are installed here."""
    found: dict[str, Path] = {}
    for version in VERSIONS:
        for path in _candidates(version):
            if _version_of(path) == version:
                found[version] = path
                break
    return found


def _candidates(version: str) -> Iterator[Path]:
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        yield Path(sys.executable)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/python"), reverse=True)
    for folder in os.environ["PATH"].split(os.pathsep):
        yield Path(folder) / f"python{version}"


def _version_of(path: Path) -> str:
    try:
        return run(path, "-c", _SHOW).strip()
    except (OSError, Failed):
        return ""


class Environment(NamedTuple):
    """A virtual environment that was made for a proof."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @classmethod
    def make(cls, folder: Path, python: Path, requirements: Sequence[str | Path] = ()) -> "Environment":
        """Make an environment with pip, and install requirements with it."""
        run(python, "-m", "venv", folder)
        environment = cls(folder)
        if requirements:
            run(environment.python, "-m", "pip", "install", "--quiet", *requirements)
        return environment

    def versions(self) -> dict[str, str]:
        """Return the version of every installed distribution."""
        code = (
            "import json, importlib.metadata as m\n"
            "print(json.dumps({d.metadata['Name']: d.version for d in m.distributions()}))"
        )
        return json.loads(run(self.python, "-c", code).splitlines()[-1])
