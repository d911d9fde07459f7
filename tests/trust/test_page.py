"""One command runs the proofs, keeps their figures and writes the page."""

import inspect
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from trust import __main__ as command
from trust.page import write_page
from trust.promises import Promise, Proof

FACTS = {"short": True, "seed": 3, "seconds": 60.0, "cores": 1, "load_average": [0.5, 0.4, 0.3]}
FACTS |= {"python": "3.11.7", "system": "Linux x86_64"}


@pytest.mark.parametrize("name", command.PROOFS)
def test_every_proof_has_the_same_form(name: str) -> None:
    module = import_module(command.PROOFS[name])
    assert isinstance(module.TITLE, str)
    assert str(inspect.signature(module.prove)).startswith("(*, short: bool, seed: int = 0)")


def proof(*promises: Promise) -> Proof:
    return Proof("Kills", list(promises), {"a": [1], "table": [{"by": "SIGKILL", "number": 7}]}, FACTS)


def test_figures_come_back(tmp_path: Path) -> None:
    written = proof(Promise("kept", "1 of 1", True), Promise("unknown", "-", None))
    written.write(tmp_path / "kill.json")
    assert Proof.read(tmp_path / "kill.json") == written


def test_page_shows_every_promise_and_the_broken_one(tmp_path: Path) -> None:
    proof(Promise("a | b", "1 < 2", True), Promise("lost", "3", False)).write(tmp_path / "kill.json")
    page = write_page([tmp_path / "kill.json"], tmp_path / "trust.md").read_text("utf-8")
    assert "1 of 2 promises are kept." in page
    assert "| a \\| b | 1 &lt; 2 | yes |" in page
    assert "| lost | 3 | **NO** |" in page
    assert "| by | number |\n| --- | --- |\n| SIGKILL | 7 |\n" in page
    assert "`python -m trust --only kill --short`: 1.0 minutes on 1 core, load average 0.5" in page


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """The command with proofs that take no time."""
    kept = {"kill": True, "files": False}

    def module(name: str) -> SimpleNamespace:
        def prove(*, short: bool, seed: int) -> tuple[list[Promise], dict]:
            return [Promise(f"{name} {short} {seed}", "1", kept[name.removeprefix("trust.")])], {}

        return SimpleNamespace(TITLE=name, prove=prove)

    monkeypatch.setattr(command, "PROOFS", {name: f"trust.{name}" for name in kept})
    monkeypatch.setattr(command, "import_module", module)

    def call(*words: str) -> int:
        monkeypatch.setattr(sys, "argv", ["trust", "--out", str(tmp_path / "trust"), *words])
        return command.main()

    return call


def test_all_proofs_are_run(call, tmp_path: Path) -> None:
    assert call("--seed", "3") == 1  # a promise is broken
    page = (tmp_path / "trust.md").read_text("utf-8")
    assert "| trust.kill False 3 | 1 | yes |" in page
    assert "| trust.files False 3 | 1 | **NO** |" in page


def test_one_proof_keeps_the_figures_of_the_others(call, tmp_path: Path) -> None:
    call()
    assert call("--only", "kill", "--short") == 0
    page = (tmp_path / "trust.md").read_text("utf-8")
    assert "trust.kill True 0" in page
    assert "trust.files False 0" in page


def test_the_page_alone(call, tmp_path: Path) -> None:
    call()
    (tmp_path / "trust.md").unlink()
    (tmp_path / "trust" / "files.json").unlink()
    assert call("--page") == 0
    assert "trust.files" not in (tmp_path / "trust.md").read_text("utf-8")


def test_unknown_proofs_are_refused(call, capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        call("--only", "kil")
    assert "there is no proof 'kil'; choose from kill, files" in capsys.readouterr().err
