"""The progress bar of fits, benchmarks and simulations."""

from typing import Any

from rich import progress
from rich.console import Console


def progress_bar(
    unit: str = "", *, console: Console | None = None, **settings: Any
) -> progress.Progress:
    """Return a bar with description, count, elapsed and remaining time; it fits 80 columns.

    The ``unit`` follows the count; it may contain fields of a task, such as ``{task.fields[message]}``.
    """
    return progress.Progress(
        progress.TextColumn("{task.description:<18}"),
        progress.BarColumn(bar_width=10),
        progress.MofNCompleteColumn(),
        *([progress.TextColumn(unit)] if unit else []),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        console=console,
        **settings,
    )
