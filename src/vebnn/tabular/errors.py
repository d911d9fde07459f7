"""The error about a user's table, and how values are written in messages."""

from collections import Counter
from collections.abc import Iterable
from typing import Any


class TableError(ValueError):
    """A table that cannot be used as it is; ``row`` is a position from 0, messages count from 1."""

    def __init__(self, message: str, column: str | None = None, row: int | None = None) -> None:
        super().__init__(message)
        self.column, self.row = column, row


def quoted(value: Any, longest: int = 60) -> str:
    """Return a value in quotes, cut to the length of a line."""
    text = repr(value if isinstance(value, str) else str(value))
    return text if len(text) <= longest else f"{text[: longest - 2]}…{text[-1]}"


def quoted_list(names: Iterable[Any], most: int = 6) -> str:
    """Return names in quotes, separated by commas; a long list is cut short."""
    words = [quoted(name) for name in names]
    rest = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + rest


def counted(number: int, noun: str) -> str:
    """Return ``1 row``, ``2 rows``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def refuse_repeated(file: str, names: Iterable[str]) -> None:
    """Raise an error about columns of a file with the same name, if there are such."""
    if repeated := [name for name, number in Counter(names).items() if number > 1]:
        raise TableError(
            f"The file {file} has more than one column called {quoted_list(repeated)}. Rename them."
        )
