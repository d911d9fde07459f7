"""Dependencies as pyproject.toml declares them, and their lowest allowed versions."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Name, extras, lower bound, and any upper bound.
_FORM = re.compile(r"([\w.-]+)(?:\[([\w,-]+)\])?(?:>=([\w.]+)(?:,<[\w.]+)?)?$")


def requirements(extras: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the lower bound of every dependency of the project, and of some of its extras.

    Raises:
      ValueError: if a requirement has no lower bound, or a form that is not ``name>=lower,<upper``.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    waiting, bounds = list(project["dependencies"]), {}
    waiting += [line for extra in extras for line in project["optional-dependencies"][extra]]
    for line in waiting:
        form = _FORM.match(line)
        if form and form[1] == project["name"]:
            for extra in form[2].split(","):
                waiting += project["optional-dependencies"][extra]
        elif form and form[3]:
            bounds[form[1]] = form[3]
        else:
            raise ValueError(f"A requirement of pyproject.toml needs a lower bound. Got {line!r}.")
    return bounds


def lowest(extras: tuple[str, ...]) -> list[str]:
    """Return requirements that only the lowest allowed versions meet."""
    return [f"{name}=={bound}" for name, bound in requirements(extras).items()]
