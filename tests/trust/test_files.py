"""The short form of the proof against damaged files."""

import random
from pathlib import Path

import pytest

from trust.damage import arm_pickle, damage, spoil_table
from trust.files import outcome_of, promises_of, prove
from trust.readers import Kind


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_promise_is_kept() -> None:
    promises, figures = prove(short=True)
    assert {row["files"] for row in figures["table"] if row["refused"]} >= {
        "raw model",
        "swapped model",
        "checkpoint",
        "pickle",
    }
    assert [one for one in promises if not one.kept] == []


def figures(**changes: object) -> dict:
    good = {"number": 2, "outcomes": {"refused": 2}, "executed": 0, "megabytes": 3}
    return {"raw model": {**good, "slowest_seconds": 0.1, "raw": True, **changes}}


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({}, set()),
        ({"outcomes": {"refused": 1, "another": 1}}, {0}),
        ({"outcomes": {"refused": 1, "another": 1}, "raw": False}, set()),
        ({"executed": 1}, {1}),
        ({"outcomes": {"hang": 1}}, {2}),
        ({"outcomes": {"traceback: KeyError": 1}}, {3}),
        ({"outcomes": {"crash": 1}}, {4}),
        ({"megabytes": 1024}, {5}),
    ],
)
def test_broken_promises_are_seen(changes: dict, broken: set[int]) -> None:
    promises = promises_of(figures(**changes))
    assert {at for at, one in enumerate(promises) if not one.kept} == broken


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(None, "the same"), (ValueError("a sentence"), "refused"), (KeyError(1), "traceback: KeyError")],
)
def test_outcomes(error: Exception | None, outcome: str, tmp_path: Path) -> None:
    def read(folder: Path) -> int:
        if error is not None:
            raise error
        return 1

    kind = Kind("any", 1.0, lambda chance, folder: None, read, raw=True)
    assert outcome_of(kind, tmp_path, 1) == outcome


def test_damage_changes_something() -> None:
    chance, content = random.Random(0), bytes(range(200))
    assert sum(damage(chance, content) != content for _ in range(100)) > 95


@pytest.mark.parametrize(
    ("change", "name", "content"),
    [(arm_pickle, "f", b"\x80\x04]K\x01a."), (spoil_table, "t.csv", b"a,b\n1,2\n3,4\n")],
)
def test_hostile_content_gets_in(change, name: str, content: bytes, tmp_path: Path) -> None:
    chance, seen = random.Random(0), b""
    for _ in range(100):
        (tmp_path / name).write_bytes(content)
        change(chance, tmp_path)
        seen += (tmp_path / name).read_bytes() if (tmp_path / name).exists() else b""
    assert (b"system" if name == "f" else b"DROP TABLE") in seen
