"""What a fit shows of its progress."""

import io
import re

import pytest
from rich.console import Console

from vebnn.training import PlannedStage, progress
from vebnn.training.progress import Progress, duration


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A terminal of 80 columns."""
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80, color_system=None)
    monkeypatch.setattr(progress, "Console", lambda: console)
    return screen


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A file in the place of a terminal."""
    file = io.StringIO()
    monkeypatch.setattr(progress, "Console", lambda: Console(file=file, force_terminal=False))
    return file


def run(shown: Progress, *, done_before: int = 0) -> None:
    names = ["Step 1", "Round 1 · Step 2", "Round 1 · Step 3 · continuation 1 · pilot"]
    shown.expect([PlannedStage(name, 100) for name in names])
    for number, name in enumerate(names):
        done = 100 if number < done_before else 0
        shown.begin(name, done, 100)
        for reached in () if done else (1, 50, 100):
            shown.report(name, None, reached, 100, "loss 0.1")
    shown.close(finished=True)


def screens(text: str) -> list[str]:
    return [line for line in re.split(r"[\r\n]|\x1b\[[0-9?;]*[A-Za-z]", text) if line.strip()]


def test_one_line_of_at_most_80_columns(terminal: io.StringIO) -> None:
    run(Progress())
    lines = screens(terminal.getvalue())
    assert max(map(len, lines)) <= 80
    assert any("Round 1 · Step 2 · compiling" in line for line in lines)
    assert lines[-1].startswith("Fit ")
    assert "100%" in lines[-1]


def test_finished_stages_of_a_resumed_fit_are_not_compiling(terminal: io.StringIO) -> None:
    run(Progress(), done_before=2)
    lines = screens(terminal.getvalue())
    shown = [line for line in lines if "Step 2" in line]
    assert shown
    assert all("finished before" in line and "67%" in line for line in shown)
    assert not any("?" in line for line in lines)


def test_a_log_has_a_line_per_stage(log: io.StringIO) -> None:
    shown = Progress()
    run(shown)
    lines = log.getvalue().splitlines()
    assert [line.split(" · ")[1] for line in lines] == ["Step 1", "Round 1", "Round 1"]
    assert lines[-1].startswith("100%")
    assert "\x1b" not in log.getvalue()


def test_a_long_stage_has_lines_now_and_then(log: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_PER_LINE", 0.0)
    run(Progress())
    assert len(log.getvalue().splitlines()) == 12  # three stages: one at the beginning, three reports


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0:00:00"), (61, "0:01:01"), (3_599.6, "1:00:00"), (90_000, "25:00:00")]
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text
