"""The short form of the proof against kills, and that it notices what it is there for."""

from pathlib import Path

import pytest

from trust.kill import finished_lines, promises_of, prove
from trust.killing import Command, Kill, Reference, Trial, trials_of


def test_short_form_keeps_its_promises() -> None:
    promises, figures = prove(short=True)
    assert [one for one in promises if not one.kept] == []
    assert {row["command"] for row in figures["table"]} == {"bench", "simulate"}
    assert all(
        row["before its end"] == "yes" for row in figures["table"] if "change" in row["killed by"]
    )


@pytest.mark.parametrize(
    ("how", "outcome", "complaint", "kept"),
    [
        ("SIGKILL", "identical", "", [True, True]),
        ("SIGKILL", "different", "", [False, True]),
        ("change 3", "stray: work/m.checkpoint", "", [False, True]),
        ("SIGINT", "identical", "Traceback (most recent call last)", [True, False]),
    ],
)
def test_promises(how: str, outcome: str, complaint: str, kept: list[bool]) -> None:
    trials = [
        Trial("fit", "SIGINT", True, "identical", "vebnn: Interrupted."),
        Trial("fit", how, True, outcome, complaint),
    ]
    assert [one.kept for one in promises_of(trials)] == kept


@pytest.fixture
def command(tmp_path: Path) -> Command:
    (tmp_path / "start").mkdir()
    return Command("data", "data list", lambda folder: 1, lambda folder: set(), tmp_path / "start")


@pytest.mark.parametrize(
    ("reference", "outcome"),
    [
        (Reference(1, {"work", "temporary"}, 0), "identical"),
        (Reference(2, {"work", "temporary"}, 0), "different"),
        (Reference(1, {"work", "temporary", "work/m"}, 0), "stray: work/m"),
    ],
)
def test_outcomes(command: Command, tmp_path: Path, reference: Reference, outcome: str) -> None:
    found = trials_of(command, tmp_path, reference, [Kill("SIGKILL"), Kill("SIGTERM")])
    assert [(one.how, one.hit, one.outcome) for one in found] == [
        ("SIGKILL", True, outcome),
        ("SIGTERM", True, outcome),
    ]


def test_what_is_lost_is_noticed(command: Command, tmp_path: Path) -> None:
    calls = iter([{b"a"}, set(), {b"b"}])  # before, after the kill, at the end
    reference = Reference(1, {"work", "temporary"}, 0)
    losing = command._replace(finished=lambda folder: next(calls))
    (found,) = trials_of(losing, tmp_path, reference, [Kill("SIGKILL")])
    assert found.outcome == "something finished was lost"


def test_half_a_line_is_not_finished(tmp_path: Path) -> None:
    assert finished_lines(tmp_path) == set()
    (tmp_path / "rows.jsonl").write_bytes(b'{"a": 1}\n{"b"')
    assert finished_lines(tmp_path) == {b'{"a": 1}\n'}
