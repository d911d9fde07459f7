"""Progress bars on the terminal, and several observers as one."""

from collections.abc import Sequence
from types import TracebackType
from typing import Any, TypeVar

from rich.progress import TaskID

from vebnn.core.progress import progress_bar
from vebnn.core.signals import Interrupts
from vebnn.training.stage import Observer

State = TypeVar("State")


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

    def report(self, stage: str, state: Any, done: int, total: int, message: str) -> None:
        """Report to each observer, then raise a pending Ctrl-C."""
        for observer in self._observers:
            observer.report(stage, state, done, total, message)
        self._interrupts.check()


class Progress(Observer):
    """One bar per stage, on the terminal."""

    def __init__(self) -> None:
        self._bars = progress_bar("epochs · {task.fields[message]}")
        self._tasks: dict[str, TaskID] = {}
        self._bars.start()

    def restore(self, stage: str, state: State) -> State:
        """Show the stage's bar as soon as the stage begins."""
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=None, message="compiling")
        return state

    def report(self, stage: str, state: Any, done: int, total: int, message: str) -> None:
        """Move the stage's bar."""
        self._bars.update(self._tasks[stage], completed=done, total=total, message=message)

    def close(self, finished: bool) -> None:
        """Stop the bars; what they showed stays on the screen."""
        self._bars.stop()
