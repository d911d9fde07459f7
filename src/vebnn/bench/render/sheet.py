"""The description of a table that every writer takes."""

from collections.abc import Sequence
from dataclasses import dataclass

MISSING = "–"


@dataclass(frozen=True)
class Cell:
    """A cell.

    Args:
      text: its content.
      bold: whether the text is bold.
      underline: whether the text is underlined.
      italic: whether the text is italic.
      raised: superscript after the text.
      below: a second, smaller line.
      sort: the key by which an HTML page sorts; ``None`` is the text.
    """

    text: str
    bold: bool = False
    underline: bool = False
    italic: bool = False
    raised: str = ""
    below: str = ""
    sort: float | None = None


def cells(*texts: str, bold: bool = False) -> list[Cell]:
    """Return a row of plain or bold cells."""
    return [Cell(text, bold=bold) for text in texts]


@dataclass(frozen=True)
class Sheet:
    """A table.

    Args:
      title: its title.
      caption: explains the columns.
      columns: headings; the first column is text, the others are numbers.
      groups: rows; writers draw a rule between groups.
      notes: sentences below the table.
    """

    title: str
    caption: str
    columns: Sequence[str]
    groups: Sequence[Sequence[Sequence[Cell]]]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Document:
    """Tables under one title.

    Args:
      title: its title.
      opening: sentences before the first table.
      sheets: the tables.
      closing: sentences after the last table.
    """

    title: str
    opening: Sequence[str]
    sheets: Sequence[Sheet]
    closing: Sequence[str] = ()
