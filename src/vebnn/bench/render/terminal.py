"""Tables in a terminal."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from vebnn.bench.render.sheet import Cell, Document, Sheet


def print_document(document: Document, console: Console) -> None:
    """Print all tables and sentences of a document."""
    print_lines(console, *document.opening)
    for sheet in document.sheets:
        print_sheet(sheet, console)
    print_lines(console, *document.closing)


def print_sheet(sheet: Sheet, console: Console) -> None:
    """Print one table; a table wider than the terminal continues below, with its first column."""
    console.print()
    console.print(Text(sheet.title, style="bold"))
    print_lines(console, sheet.caption)
    for columns, gap in _parts(sheet, console.width):
        console.print(_table(sheet, columns, gap))
    print_lines(console, *(f"  {note}" for note in sheet.notes))


def print_lines(console: Console, *lines: str) -> None:
    """Print sentences; square brackets in names are not taken for markup."""
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _parts(sheet: Sheet, width: int) -> list[tuple[list[int], int]]:
    """Return the columns of each part and the spaces between them: one space if that avoids a cut."""
    rows = [row for group in sheet.groups for row in group]
    widths = [
        max(len(name), *(len(line) for row in rows for line in _text(row[at]).plain.split("\n")))
        for at, name in enumerate(sheet.columns)
    ]
    gap = 1 if sum(widths) + len(widths) < width <= sum(widths) + 2 * len(widths) else 2
    parts = [[0]]
    for at in range(1, len(widths)):
        needed = 1 + sum(widths[column] + gap for column in [*parts[-1], at])
        if needed > width and len(parts[-1]) > 1:
            parts.append([0])
        parts[-1].append(at)
    return [(columns, gap) for columns in parts]


def _table(sheet: Sheet, columns: Sequence[int], gap: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, gap - 1, 0, 0))
    for at in columns:
        table.add_column(Text(sheet.columns[at]), justify="right" if at else "left", overflow="fold")
    for group in sheet.groups:
        for row in group:
            table.add_row(*(_text(row[at]) for at in columns))
        table.add_section()
    return table


def _text(cell: Cell) -> Text:
    styles = {"bold": cell.bold, "underline": cell.underline, "italic": cell.italic}
    style = " ".join(name for name, wanted in styles.items() if wanted)
    # Terminals have no superscript.
    text = Text.assemble((cell.text, style), f" {cell.raised}" if cell.raised else "")
    return text.append(f"\n{cell.below}", style="dim") if cell.below else text
