"""A promise, what was measured for it, and how both are shown."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table


class Promise(NamedTuple):
    """One line of a proof."""

    promise: str
    measured: str
    kept: bool | None  # None if it could not be measured


def show(title: str, promises: Sequence[Promise]) -> None:
    """Print promises as a table."""
    table = Table(title=title, title_justify="left")
    for heading in Promise._fields:
        table.add_column(heading)
    for one in promises:
        table.add_row(
            one.promise, one.measured, {True: "yes", False: "NO", None: "not measured"}[one.kept]
        )
    Console().print(table)


def write(path: Path, promises: Sequence[Promise], figures: dict[str, Any]) -> None:
    """Write promises and all figures as JSON."""
    content = {"promises": [one._asdict() for one in promises], "figures": figures}
    path.write_text(json.dumps(content, indent=1) + "\n")
