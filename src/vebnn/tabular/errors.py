"""The error about a user's table, and how values are written in messages."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any


class TableError(ValueError):
    """A table that cannot be used as it is; ``row`` is a position from 0, messages count from 1."""

    droppable: str | None = None  # a column; without it there would be no error

    def __init__(self, message: str, column: str | None = None, row: int | None = None) -> None:
        super().__init__(message)
        self.column, self.row = column, row


class TableProblems(TableError):
    """Several errors about one table or space: a line for each, after one that counts them."""

    def __init__(self, problems: list[TableError], subject: str) -> None:
        first, self.problems = problems[0], problems
        lines = [f"The {subject} has {len(problems)} problems:"]
        lines += [f"{number}. {problem}" for number, problem in enumerate(problems, 1)]
        if columns := [problem.droppable for problem in problems if problem.droppable is not None]:
            plural = "these columns" if len(columns) > 1 else "the column"
            drops = " ".join(option("drop", name) for name in columns)
            lines.append(f"To leave {plural} out: {drops}")
        super().__init__("\n".join(lines), first.column, first.row)


class Problems:
    """Errors that are collected, so that a user sees all of them at once."""

    def __init__(self, subject: str = "table") -> None:
        self._subject = subject
        self._found: list[TableError] = []

    @contextmanager
    def collected(self, column: str | None = None) -> Iterator[None]:
        """Keep an error that is raised inside; without ``column``, if given, there would be none."""
        try:
            yield
        except TableError as error:
            if column is not None:
                error.droppable = column
            self._found += error.problems if isinstance(error, TableProblems) else [error]

    def raise_any(self) -> None:
        """Raise the error, or one about all of them, if there are any."""
        if len(self._found) == 1:
            raise self._found[0]
        if self._found:
            raise TableProblems(self._found, self._subject)


def option(name: str, value: str) -> str:
    """Return an option of the command line that can be pasted into a shell."""
    return f"--{name} {shlex.quote(value)}"


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
