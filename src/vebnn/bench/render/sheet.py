"""The description of a table that every writer takes."""

from collections.abc import Sequence
from dataclasses import dataclass

MISSING = "–"


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str
    bold: bool = False
    underline: bool = False
    italic: bool = False
    raised: str = ""  # superscript after the text
    below: str = ""  # a second, smaller line
    sort: float | None = None  # the key by which an HTML page sorts; ``None`` is the text


def cells(*texts: str, bold: bool = False) -> list[Cell]:
    """Return a row of plain or bold cells."""
    return [Cell(text, bold=bold) for text in texts]


@dataclass(frozen=True)
class Sheet:
    """A table."""

    title: str
    caption: str  # explains the columns
    columns: Sequence[str]  # headings; the first column is text, the others are numbers
    groups: Sequence[Sequence[Sequence[Cell]]]  # rows; writers draw a rule between groups
    notes: Sequence[str] = ()  # sentences below the table
    words: bool = False  # all columns are text


@dataclass(frozen=True)
class Document:
    """Tables under one title."""

    title: str
    opening: Sequence[str]  # sentences before the first table
    sheets: Sequence[Sheet]
    closing: Sequence[str] = ()  # sentences after the last table
