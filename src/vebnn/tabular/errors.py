"""What is wrong with a table, and where."""

from typing import Any


class TableError(ValueError):
    """A table that cannot be used as it is.

    Args:
      sentence: what is wrong and what to do about it.
      column: name of the column at fault.
      row: position of the row at fault, from 0; sentences count from 1.
    """

    def __init__(self, sentence: str, column: str | None = None, row: int | None = None) -> None:
        super().__init__(sentence)
        self.column, self.row = column, row


def shown(value: Any, longest: int = 60) -> str:
    """Return a value as it may stand in a sentence: quoted, and not longer than a line."""
    text = repr(value if isinstance(value, str) else str(value))
    return text if len(text) <= longest else f"{text[: longest - 2]}…{text[-1]}"


def listed(names: Any, most: int = 6) -> str:
    """Return names as a list in a sentence; a long list is cut short."""
    words = [shown(str(name)) for name in names]
    rest = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + rest


def counted(number: int, noun: str) -> str:
    """Return ``1 row``, ``2 rows``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
