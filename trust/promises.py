"""A promise, what was measured for it, and how both are shown."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table


class Promise(NamedTuple):
    """One line of a proof."""

    promise: str  # with its limit
    measured: str
    kept: bool | None  # None if it could not be measured


class Proof(NamedTuple):
    """One proof that was run."""

    title: str
    promises: Sequence[Promise]
    figures: dict[str, Any]
    facts: dict[str, Any]  # when and where it was run

    @property
    def is_kept(self) -> bool:
        """Whether every promise that was measured is kept."""
        return all(one.kept is not False for one in self.promises)

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        promises = [one._asdict() for one in self.promises]
        path.write_text(json.dumps({**self._asdict(), "promises": promises}, indent=1) + "\n")

    @classmethod
    def read(cls, path: Path) -> "Proof":
        """Read what was written."""
        content = json.loads(path.read_text())
        promises = [Promise(**one) for one in content.pop("promises")]
        return cls(promises=promises, **content)


def verdict(promise: Promise) -> str:
    """Return a word for whether a promise is kept."""
    return {True: "yes", False: "NO", None: "not measured"}[promise.kept]


def show(title: str, promises: Sequence[Promise]) -> None:
    """Print promises as a table."""
    table = Table(title=title, title_justify="left")
    for heading in Promise._fields:
        table.add_column(heading)
    for one in promises:
        table.add_row(one.promise, one.measured, verdict(one))
    Console().print(table)
