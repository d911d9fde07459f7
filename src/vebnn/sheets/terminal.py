"""Tables in a terminal."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from vebnn.sheets.sheet import Cell, Document, Sheet


def print_document(document: Document, console: Console) -> None:
    """Print everything; names are never taken for markup."""
    for sentence in document.opening:
        console.print(Text(sentence), soft_wrap=True)
    for sheet in document.sheets:
        console.print()
        console.print(Text(sheet.title, style="bold"))
        console.print(Text(sheet.caption), soft_wrap=True)
        console.print(_table(sheet))
        for note in sheet.notes:
            console.print(Text(f"  {note}"), soft_wrap=True)
    for sentence in document.closing:
        console.print(Text(sentence), soft_wrap=True)


def _table(sheet: Sheet) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, name in enumerate(sheet.columns):
        table.add_column(Text(name), justify="right" if number else "left", overflow="fold")
    for group in sheet.groups:
        for row in group:
            table.add_row(*map(_text, row))
        table.add_section()
    return table


def _text(cell: Cell) -> Text:
    chosen = {"bold": cell.bold, "underline": cell.underline, "italic": cell.italic}
    style = " ".join(word for word, wanted in chosen.items() if wanted)
    # One mark in brackets is easier to read here than a raised letter, which terminals lack.
    text = Text.assemble((cell.text, style), (f" {cell.raised}" if cell.raised else ""))
    return text.append(f"\n{cell.below}", style="dim") if cell.below else text
