"""The plan of the house: imports only go down, files stay short, no drawer for odds and ends."""

import ast
import re
from pathlib import Path

import pytest

import vebnn

ROOT = Path(vebnn.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

LEVELS = (
    {"core"},
    {"serialization"},
    {"networks", "likelihoods", "metrics", "prediction"},
    {"datasets", "training", "calibration"},
    {"inference"},
    {"strategies"},
    {"presets"},
    {"estimators"},
    {"acquisition", "plots"},
    {"tabular"},
    {"bench", "dask"},
    {"cli"},
)

LEVEL_OF = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    """Return the rooms of vebnn that a file imports, also inside functions and type blocks."""
    modules = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            if node.module == "vebnn":
                modules += [f"vebnn.{alias.name}" for alias in node.names]
            else:
                modules.append(node.module or "")
    parts = [module.split(".") for module in modules]
    return {names[1] for names in parts if names[0] == "vebnn" and len(names) > 1}


def inside_rooms() -> list[Path]:
    # The package's front door stands outside of the house.
    return [path for path in FILES if path != ROOT / "__init__.py"]


@pytest.mark.parametrize("path", inside_rooms(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_only_go_down(path: Path) -> None:
    here = room_of(path)
    assert here in LEVEL_OF, f"{here} has no level yet: add it to LEVELS"
    for there in imported_rooms(path) - {here}:
        # Names such as vebnn.MLP are the public face, which only the top may use.
        assert there in LEVEL_OF, f"{path} imports {there}, which is no room"
        assert LEVEL_OF[there] < LEVEL_OF[here], f"{here} must not import {there}"


def test_only_the_commands_of_the_rig_name_it() -> None:
    """Nothing outside ``bench/`` imports it, not even lazily, but for its commands."""
    commands = {"cli/bench.py", "cli/bench_pages.py", "cli/bench_paper.py"}
    commands |= {"cli/bench_run.py", "cli/simulate.py"}
    outside = [path for path in FILES if room_of(path) != "bench"]
    named = {path.relative_to(ROOT).as_posix() for path in outside if "bench" in imported_rooms(path)}
    assert named == commands
    for name in commands:
        body = ast.parse((ROOT / name).read_text()).body
        imports = [node for node in body if isinstance(node, ast.ImportFrom)]
        assert not any("vebnn.bench" in (node.module or "") for node in imports)


def test_rule_sees_the_imports() -> None:
    # A check that finds nothing would pass forever.
    assert imported_rooms(ROOT / "estimators" / "vebnn.py") >= {"strategies", "inference", "core"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_are_short_and_have_a_purpose(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 350
    assert path.stem not in {"utils", "util", "helpers", "common", "misc"}


def test_the_table_of_the_contributors_guide_is_this_one() -> None:
    guide = (ROOT.parents[1] / "CONTRIBUTING.md").read_text()
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", guide, re.MULTILINE)
    assert [int(level) for level, _ in rows] == list(range(len(LEVELS)))
    assert tuple(set(re.findall(r"`(\w+)`", rooms)) for _, rooms in rows) == LEVELS


def test_the_top_level_is_small() -> None:
    entries = [
        path.name
        for path in ROOT.iterdir()
        if path.name not in ("__init__.py", "py.typed", "__pycache__")
    ]
    assert len(entries) <= 19


def test_the_walk_of_a_row_names_files_and_functions_that_exist() -> None:
    guide = (ROOT.parents[1] / "CONTRIBUTING.md").read_text()
    hops = re.findall(r"^\d+\. (.*)$", guide, re.MULTILINE)
    assert len(hops) <= 45
    named = [pair for hop in hops for pair in re.findall(r"`([\w/]+\.py)` `([\w.]+)`", hop)]
    assert len(named) >= len(hops)
    for file, name in named:
        source = (ROOT / file).read_text()
        assert re.search(rf"^ *(def|class) {name.split('.')[-1]}\b", source, re.MULTILINE), (file, name)
