"""What a table says, whatever it is written in."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A cell.

    Args:
      text: what it says.
      bold: whether it stands out.
      underline: whether it stands out further.
      italic: whether it stands out among its neighbours.
      raised: marks above the line, behind the text.
      below: a second, smaller line.
      sort: what a page sorts by; the text unless given.
    """

    text: str
    bold: bool = False
    underline: bool = False
    italic: bool = False
    raised: str = ""
    below: str = ""
    sort: float | None = None


@dataclass(frozen=True)
class Sheet:
    """A table.

    Args:
      title: a few words.
      caption: what the cells are, in sentences.
      columns: names; the first column has words, the others numbers.
      groups: rows; there is a rule between groups.
      notes: sentences below the table.
    """

    title: str
    caption: str
    columns: Sequence[str]
    groups: Sequence[Sequence[Sequence[Cell]]]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Document:
    """Tables under a title.

    Args:
      title: a few words.
      opening: sentences before the first table.
      sheets: the tables.
      closing: sentences after the last.
    """

    title: str
    opening: Sequence[str]
    sheets: Sequence[Sheet]
    closing: Sequence[str] = ()
