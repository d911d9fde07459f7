"""Tables in a terminal."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from vebnn.bench.render.sheet import Cell, Document, Sheet

GAP = 2  # spaces between columns


def print_document(document: Document, console: Console) -> None:
    """Print everything; names are never taken for markup."""
    for sentence in document.opening:
        console.print(Text(sentence), soft_wrap=True)
    for sheet in document.sheets:
        console.print()
        console.print(Text(sheet.title, style="bold"))
        console.print(Text(sheet.caption), soft_wrap=True)
        for columns in _parts(sheet, console.width):
            console.print(_table(sheet, columns))
        for note in sheet.notes:
            console.print(Text(f"  {note}"), soft_wrap=True)
    for sentence in document.closing:
        console.print(Text(sentence), soft_wrap=True)


def _parts(sheet: Sheet, room: int) -> list[list[int]]:
    """Share columns out among as many tables as the width asks for; each has the first column."""
    rows = [row for group in sheet.groups for row in group]
    widths = [
        max(len(name), *(len(line) for row in rows for line in _text(row[at]).plain.split("\n")))
        for at, name in enumerate(sheet.columns)
    ]
    parts = [[0]]
    for at in range(1, len(widths)):
        taken = 1 + sum(widths[column] + GAP for column in [*parts[-1], at])
        if taken > room and len(parts[-1]) > 1:
            parts.append([0])
        parts[-1].append(at)
    return parts


def _table(sheet: Sheet, columns: Sequence[int]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, GAP - 1, 0, 0))
    for at in columns:
        table.add_column(Text(sheet.columns[at]), justify="right" if at else "left", overflow="fold")
    for group in sheet.groups:
        for row in group:
            table.add_row(*(_text(row[at]) for at in columns))
        table.add_section()
    return table


def _text(cell: Cell) -> Text:
    chosen = {"bold": cell.bold, "underline": cell.underline, "italic": cell.italic}
    style = " ".join(word for word, wanted in chosen.items() if wanted)
    # Terminals have no raised letters.
    text = Text.assemble((cell.text, style), (f" {cell.raised}" if cell.raised else ""))
    return text.append(f"\n{cell.below}", style="dim") if cell.below else text
