"""The progress bar of fits, benchmarks and simulations."""

from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


def progress_bar(unit: str = "", *, console: Console | None = None, **settings: Any) -> Progress:
    """Return a bar with description, count, elapsed and remaining time.

    Args:
      unit: follows the count; it may contain fields of a task, such as ``{task.fields[message]}``.
      console: where the bar is drawn.
      settings: further arguments of :class:`rich.progress.Progress`.
    """
    return Progress(
        TextColumn("{task.description:<22}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        *([TextColumn(unit)] if unit else []),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=console,
        **settings,
    )
