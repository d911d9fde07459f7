"""The parts of a release that need neither a network nor a build."""

import tomllib
from pathlib import Path

import pytest
import yaml

from hatch_build import ReadmeOfPyPI, with_whole_links
from trust import release
from trust.requirements import ROOT

README = "![A *plot*.](docs/images/demo.png) [a](docs/a.md#b), [web](https://x.org/y), [here](#here)"


def test_links_of_the_readme_lead_to_the_tag() -> None:
    address = "https://example.org/o/vebnn"
    assert with_whole_links(README, address, "v1.2") == (
        f"![A *plot*.]({address}/raw/v1.2/docs/images/demo.png) [a]({address}/blob/v1.2/docs/a.md#b), "
        "[web](https://x.org/y), [here](#here)"
    )


@pytest.mark.parametrize("known", [True, False])
def test_readme_of_the_metadata(tmp_path: Path, known: bool) -> None:
    (tmp_path / "README.md").write_text(README)
    metadata: dict = {"version": "1.2"}
    if known:
        metadata["urls"] = {"Source": "https://example.org/o/vebnn/"}
    ReadmeOfPyPI(str(tmp_path), {}).update(metadata)
    assert metadata["readme"]["content-type"] == "text/markdown"
    written = metadata["readme"]["text"]
    assert written.count("https://example.org/o/vebnn/") == (2 if known else 0)
    assert (written == README) != known


def test_every_link_of_our_readme_is_found() -> None:
    whole = with_whole_links((ROOT / "README.md").read_text(), "https://example.org/o/vebnn", "v1")
    assert release._RELATIVE.findall(whole) == []
    assert "](https://example.org/o/vebnn/raw/v1/docs/images/demo.png)" in whole


def test_conda_recipe_asks_for_the_dependencies_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    recipe = yaml.safe_load(release.RECIPE.read_text())
    python, *asked = recipe["requirements"]["run"]
    assert python == "python >=${{ python_min }}"
    assert project["requires-python"] == f">={recipe['context']['python_min']}"
    # On conda-forge, `matplotlib` also brings a window toolkit.
    names = {"matplotlib": "matplotlib-base"}
    expected = []
    for line in project["dependencies"]:
        name, bounds = line.split(">=")
        expected.append(f"{names.get(name, name)} >={bounds}")
    assert asked == expected
    (script,) = recipe["build"]["python"]["entry_points"]
    assert script == f"vebnn = {project['scripts']['vebnn']}"
    assert recipe["about"]["summary"] == project["description"]


def test_recipe_of_a_release_has_source_and_checksum(tmp_path: Path) -> None:
    (tmp_path / "source.tar.gz").write_bytes(b"abc")
    recipe = yaml.safe_load(release.recipe_of_release(tmp_path / "source.tar.gz"))
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # NIST's example
    assert recipe["source"]["sha256"] == digest
    assert recipe["source"]["url"].endswith("/v/${{ name }}/${{ name }}-${{ version }}.tar.gz")
    assert set(recipe["source"]) == {"sha256", "url"}


def test_versions_are_compared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    texts = {
        "src/vebnn/__init__.py": 'x = 1\n__version__ = "3.0"\n',
        "CITATION.cff": "cff-version: 1.2.0\nversion: 3.0\n",
        "conda-recipe/recipe.yaml": 'context:\n  version: "3.0"\n',
        "CHANGELOG.md": "## [Unreleased]\n\n## [3.0] - 2026-01-02\n\n## [2.0] - 2025-01-02\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    assert release.prove_versions().kept
    (tmp_path / "CHANGELOG.md").write_text("## [3.0]\n")
    assert not release.prove_versions().kept
    assert release.versions()["CHANGELOG.md"] == "none"
