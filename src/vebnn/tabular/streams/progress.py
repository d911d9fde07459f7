"""The progress of work on a file that is read block by block."""

import time

from rich import progress
from rich.console import Console

from vebnn.training.progress import SECONDS_PER_LINE, duration


class StreamProgress:
    """A context with a bar, or a line every half minute where the output is not a terminal.

    The time left follows from the share of the work done since the context was entered.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar: progress.Progress | None = None
        if console.is_terminal:
            self._bar = progress.Progress(
                progress.TextColumn("{task.description:<34}"),
                progress.BarColumn(bar_width=14),
                progress.TaskProgressColumn(),
                progress.TimeElapsedColumn(),
                progress.TimeRemainingColumn(),
                console=console,
            )
        self._task = progress.TaskID(0)
        self._started = self._last = time.monotonic()
        self._first_share = 0.0

    def __enter__(self) -> "StreamProgress":
        if self._bar is not None:
            self._task = self._bar.add_task("", total=1.0)
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def skip(self, share: float) -> None:
        """Take note of a share that was done before; it says nothing about the speed."""
        self._first_share, self._started = share, time.monotonic()

    def show_rows(self, share: float, num_rows: int) -> None:
        """Show the share of a file that is done, and its rows so far."""
        self.show(share, f"{num_rows:,} rows")

    def show(self, share: float, message: str) -> None:
        """Show the share of all work that is done."""
        if self._bar is not None:
            self._bar.update(self._task, completed=share, description=message[:34], refresh=True)
            return
        now = time.monotonic()
        if now - self._last < SECONDS_PER_LINE:
            return
        self._last, passed, done = now, now - self._started, share - self._first_share
        left = f", ≈ {duration(passed * (1 - share) / done)} left" if done > 0 else ""
        line = f"{share:4.0%} · {message} · {duration(passed)}{left}"
        self._console.print(line, highlight=False, soft_wrap=True)
