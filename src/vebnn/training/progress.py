"""The progress of a fit on the terminal, and several observers as one."""

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, TypeVar

from rich import progress
from rich.console import Console

from vebnn.core.signals import Interrupts
from vebnn.training.forecast import Forecast
from vebnn.training.stage import Observer, PlannedStage

State = TypeVar("State")

SECONDS_PER_LINE = 30.0  # where there is no terminal


class Observers(Observer):
    """Several observers as one; a context, because a progress bar must be closed.

    A Ctrl-C that Python has dropped is raised at the next report.
    """

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = observers
        self._interrupts = Interrupts()

    def __enter__(self) -> "Observers":
        self._interrupts.__enter__()
        return self

    def __exit__(self, kind: type | None, error: Any, trace: TracebackType | None) -> None:
        finished = kind is None and not self._interrupts.pending
        try:
            for observer in self._observers:
                observer.close(finished)
        finally:
            self._interrupts.__exit__(kind, error, trace)

    def restore(self, stage: str, state: State) -> State:
        """Ask each observer for an earlier state."""
        for observer in self._observers:
            state = observer.restore(stage, state)
        return state

    def expect(self, stages: Sequence[PlannedStage]) -> None:
        """Tell each observer."""
        for observer in self._observers:
            observer.expect(stages)

    def begin(self, stage: str, done: int, total: int) -> None:
        """Tell each observer."""
        for observer in self._observers:
            observer.begin(stage, done, total)

    def report(self, stage: str, state: Any, done: int, total: int, message: str) -> None:
        """Report to each observer, then raise a pending Ctrl-C."""
        for observer in self._observers:
            observer.report(stage, state, done, total, message)
        self._interrupts.check()

    def finish(self, step: str, so_far: Callable[[], Any]) -> None:
        """Tell each observer."""
        for observer in self._observers:
            observer.finish(step, so_far)


class Progress(Observer):
    """One bar for the whole fit; where the output is not a terminal, a line now and then."""

    def __init__(self) -> None:
        self._forecast = Forecast()
        console = Console()
        self._show = _Bar(console) if console.is_terminal or console.is_jupyter else _Lines(console)

    def expect(self, stages: Sequence[PlannedStage]) -> None:
        """Take note of the stages to come."""
        self._forecast.expect(stages)

    def begin(self, stage: str, done: int, total: int) -> None:
        """Show that a stage begins, or that it was finished before the fit was resumed."""
        self._forecast.begin(stage, done, total)
        message = "finished before" if done >= total else "compiling"
        self._show.update(self._forecast, stage, message, ended=done >= total)

    def report(self, stage: str, state: Any, done: int, total: int, message: str) -> None:
        """Show what a stage has reached."""
        self._forecast.advance(done)
        self._show.update(self._forecast, stage, message, ended=done >= total)

    def close(self, finished: bool) -> None:
        """Stop; what was shown last stays on the screen."""
        self._show.close(finished)


class _Bar:
    """A bar of 79 columns: what is done, its share, the time so far and the time left."""

    def __init__(self, console: Console) -> None:
        self._bar = progress.Progress(
            progress.TextColumn("{task.description:<34}"),
            progress.BarColumn(bar_width=14),
            progress.TaskProgressColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("{task.fields[left]}"),
            console=console,
        )
        self._task = self._bar.add_task("preparing", total=1.0, left="")
        self._bar.start()

    def update(self, forecast: Forecast, stage: str, message: str, ended: bool = False) -> None:
        words = f"{stage} · {message}" if len(stage) + len(message) + 3 <= 34 else stage[:34]
        seconds = forecast.seconds_left
        left = f"≈ {duration(seconds)} left" if seconds else ""
        shown: dict[str, Any] = {"description": words, "completed": forecast.share, "left": left}
        self._bar.update(self._task, refresh=True, **shown)

    def close(self, finished: bool) -> None:
        if finished:
            self._bar.update(self._task, description="Fit", completed=1.0, left="")
        self._bar.stop()


class _Lines:
    """A line at the end of each stage, and every half minute within one."""

    def __init__(self, console: Console) -> None:
        self._console, self._started = console, time.monotonic()
        self._last = self._started

    def update(self, forecast: Forecast, stage: str, message: str, ended: bool = False) -> None:
        now = time.monotonic()
        if not ended and now - self._last < SECONDS_PER_LINE:
            return
        self._last = now
        seconds = forecast.seconds_left
        left = f", ≈ {duration(seconds)} left" if seconds else ""
        passed = duration(now - self._started)
        line = f"{forecast.share:4.0%} · {stage} · {message} · {passed}{left}"
        self._console.print(line, highlight=False, soft_wrap=True)

    def close(self, finished: bool) -> None:
        pass


def duration(seconds: float) -> str:
    """Return seconds as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
