"""The proof against kills notices what it is there for."""

import pytest

from trust.kill import Trial, promises_of


@pytest.mark.parametrize(
    ("outcomes", "kept"),
    [
        (["identical", "identical"], [True, True]),
        (["identical", "different"], [False, True]),
        (["stray: m.checkpoint"], [False, True]),
        (["identical, but with a traceback"], [True, False]),
    ],
)
def test_promises(outcomes: list[str], kept: list[bool]) -> None:
    trials = [Trial("fit", "SIGKILL", True, outcome) for outcome in outcomes]
    assert [one.kept for one in promises_of(trials)] == kept
