"""The short form of the proof against damaged files."""

import random

import pytest

from trust.files import damage, promises_of, run


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_promise_is_kept() -> None:
    figures = run(count=60, seed=0)
    assert {name for name, one in figures.items() if one["outcomes"].get("refused")} >= {
        "raw",
        "swapped",
        "checkpoint",
        "pickle",
    }
    assert [one for one in promises_of(figures) if not one.kept] == []


def test_damage_changes_something() -> None:
    chance, content = random.Random(0), bytes(range(200))
    assert sum(damage(chance, content) != content for _ in range(100)) > 95
