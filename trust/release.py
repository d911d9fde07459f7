"""What a release publishes, checked and put into ``dist/``: ``python -m trust.release``.

Nothing is published: that is the act of whoever owns the name.
"""

import hashlib
import re
import shutil
import tempfile
from collections.abc import Sequence
from email import message_from_bytes
from pathlib import Path

from trust.environments import Environment, Failed, run
from trust.packages import Packages, build, contents, prove_use
from trust.promises import Promise, show
from trust.requirements import ROOT

RECIPE = ROOT / "conda-recipe" / "recipe.yaml"
PARSE = "import sys, rattler_build as r; r.Stage0Recipe.from_file(sys.argv[1]).render()"
_RELATIVE = re.compile(r"\]\((?!https?://|#)([^)]+)\)")


def versions() -> dict[str, str]:
    """Return the version that each file states; of the changelog, that of its newest dated entry."""
    places = {
        "src/vebnn/__init__.py": r'^__version__ = "(.+)"$',
        "CITATION.cff": r"^version: (.+)$",
        "conda-recipe/recipe.yaml": r'^  version: "(.+)"$',
        "CHANGELOG.md": r"^## \[(.+)\] - \d{4}-\d\d-\d\d$",
    }
    found = {
        name: re.search(form, (ROOT / name).read_text("utf-8"), re.MULTILINE)
        for name, form in places.items()
    }
    return {name: match[1] if match else "none" for name, match in found.items()}


def prove_versions() -> Promise:
    """Return whether all files state the same version."""
    stated = versions()
    agree = len(set(stated.values())) == 1
    words = next(iter(stated.values())) if agree else ", ".join(map(" ".join, stated.items()))
    return Promise("the version is the same in code, citation, recipe and changelog", words, agree)


def attempt(promise: str, *words: str | Path) -> Promise:
    """Return a promise that is kept if a command ends without an error."""
    try:
        run(*words)
    except Failed as failure:
        return Promise(promise, str(failure)[-600:], False)
    return Promise(promise, "accepted", True)


def prove_readme(wheel: Path) -> Promise:
    """Return whether the links of the long description work outside the repository."""
    (metadata,) = [data for name, data in contents(wheel).items() if name.endswith("/METADATA")]
    about = message_from_bytes(metadata)
    lost = _RELATIVE.findall(about.get_payload())
    known = any(line.startswith("Source,") for line in about.get_all("Project-URL", []))
    words = f"{len(lost)} relative links" + " until pyproject.toml names the Source" * (not known)
    return Promise("links and pictures of the README work on PyPI", words, not lost if known else None)


def prove(folder: Path, packages: Packages) -> list[Promise]:
    """Return everything that must hold before packages are published."""
    tools = Environment(folder / "build-tools").python
    run(tools, "-m", "pip", "install", "--quiet", "twine", "py-rattler-build")
    twine: Sequence[str | Path] = (tools, "-m", "twine", "check", "--strict")
    return [
        prove_versions(),
        attempt(
            "twine accepts metadata and README, without a warning",
            *(*twine, packages.wheel, packages.source),
        ),
        prove_readme(packages.wheel),
        attempt("rattler-build accepts the conda recipe", tools, "-c", PARSE, RECIPE),
        *prove_use(folder, packages)[0],
    ]


def recipe_of_release(source: Path) -> str:
    """Return the conda recipe of a source distribution that is on PyPI."""
    address = "https://pypi.org/packages/source/v/${{ name }}/${{ name }}-${{ version }}.tar.gz"
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    text = "".join(RECIPE.read_text().splitlines(keepends=True)[1:])  # without the line about `path`
    return text.replace("  path: ..\n", f"  url: {address}\n  sha256: {digest}\n")


def main() -> None:
    """Build and check; write ``dist/`` if every promise is kept, and exit with 1 if not."""
    with tempfile.TemporaryDirectory() as name:
        packages = build(Path(name))
        promises = prove(Path(name), packages)
        show("Release", promises)
        if any(one.kept is False for one in promises):
            raise SystemExit(1)
        dist = ROOT / "dist"
        shutil.rmtree(dist, ignore_errors=True)
        dist.mkdir()
        for path in (packages.wheel, packages.source):
            shutil.copy(path, dist)
        (dist / "recipe.yaml").write_text(recipe_of_release(packages.source))
    tag = f"v{versions()['src/vebnn/__init__.py']}"
    print(f"dist/ has wheel, source distribution and conda recipe of {tag}.")
    print("CONTRIBUTING.md says how to publish them.")


if __name__ == "__main__":
    main()
