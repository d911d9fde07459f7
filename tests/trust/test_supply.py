import json
import subprocess
from pathlib import Path
from shutil import which

import pytest

from trust import supply
from trust.bill import bill_of_materials
from trust.imports import side_effects
from trust.matrix import Outcome
from trust.requirements import ROOT, lowest, requirements


@pytest.mark.parametrize(
    ("action", "word"),
    [
        ("import os; os.environ['VEBNN_X'] = '1'", "os.putenv"),
        ("open('/dev/null', 'w').close()", "writes /dev/null"),
        (
            "import threading as t; t.Thread(target=t.Event().wait, daemon=True).start()",
            "changes threads",
        ),
        ("import socket; socket.socket().close()", "socket."),
        ("import jax; jax.devices()", "changes JAX devices"),
    ],
)
def test_side_effects_are_noticed(action: str, word: str) -> None:
    assert any(effect.startswith(word) for effect in side_effects(action)), side_effects(action)


def test_short_form() -> None:
    """Among others: importing every public name has no side effect."""
    promises, figures = supply.prove(short=True)
    assert all(one.kept for one in promises), promises
    assert "jax" in figures["installed"]


def test_lower_bounds_are_read_from_the_project(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr("trust.requirements.ROOT", tmp_path)
    start = '[project]\nname = "vebnn"\ndependencies = '
    extras = '\n[project.optional-dependencies]\na = ["c[x]>=3"]\nb = ["vebnn[a]", "d>=4.1,<5"]\n'
    (tmp_path / "pyproject.toml").write_text(start + '["numpy>=2.0,<3"]' + extras)
    assert requirements() == {"numpy": "2.0"}
    assert lowest(("b",)) == ["numpy==2.0", "d==4.1", "c==3"]
    for wrong in ("numpy", "numpy<3", "numpy>1"):
        (tmp_path / "pyproject.toml").write_text(f'{start}["{wrong}"]')
        with pytest.raises(ValueError, match="needs a lower bound"):
            requirements()


@pytest.mark.skipif(not which("make"), reason="make is not installed")
def test_make_finds_any_python_that_is_new_enough(tmp_path: Path) -> None:
    for name, status in (("python3", 1), ("python3.13", 0)):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {status}\n")
        (tmp_path / name).chmod(0o755)
    words = [which("make"), "--silent", "--eval", "show: ; @:; $(info $(PYTHON))", "show"]
    found = subprocess.run(words, cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert found.stdout.strip() == "python3.13", found.stderr


def installed(name: str, **more: object) -> dict:
    hashes = {"hashes": {"sha256": "ab" * 32}}
    about = {"name": name, "version": "1.0", **more}
    return {"metadata": about, "download_info": {"archive_info": hashes}}


def test_bill_of_materials() -> None:
    marks = ["Topic :: Scientific", "License :: OSI Approved :: BSD License"]
    report = {"install": [installed("B_b", classifier=marks), installed("vebnn"), installed("a")]}
    bill = bill_of_materials(json.loads(json.dumps(report)))
    assert [part["name"] for part in bill["components"]] == ["a", "b-b"]
    assert bill["components"][1]["licenses"] == [{"license": {"name": "BSD License"}}]
    assert bill["components"][0]["hashes"] == [{"alg": "SHA-256", "content": "ab" * 32}]
    assert bill["metadata"]["component"]["purl"] == "pkg:pypi/vebnn@1.0"
    assert bill["dependencies"][0]["dependsOn"] == ["pkg:pypi/a@1.0", "pkg:pypi/b-b@1.0"]


def test_promises_of_the_matrix() -> None:
    good, bad = Outcome("highest", "3.13", 7, "", {}), Outcome("lowest", "3.11", 0, "boom", {})
    assert supply.promise_of(good).kept is True
    assert supply.promise_of(bad) == (
        "tests pass with the lowest dependencies on Python 3.11", "failed: boom", False
    )  # fmt: skip
    assert [one.kept for one in supply.missing({"3.11", "3.12", "3.13"})] == [None]
