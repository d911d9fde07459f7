"""Tables as Markdown: pipes, with HTML for what it has no signs for (GitHub and MkDocs show it)."""

import re

from vebnn.bench.render.sheet import Cell, Document, Sheet

_SPECIAL = re.compile(r"([\\`*_\[\]#])")
# Not every reader of Markdown knows a backslash before these.
_AS_ENTITY = re.compile(r"[&<>|$~]")


def as_markdown(document: Document) -> str:
    """Return the text of a Markdown file."""
    parts = [f"# {escape(document.title)}", *map(escape, document.opening)]
    parts += [sheet_as_markdown(sheet) for sheet in document.sheets]
    parts += map(escape, document.closing)
    return "\n\n".join(parts) + "\n"


def sheet_as_markdown(sheet: Sheet) -> str:
    """Return one table with its title, caption and notes."""
    parts = [f"## {escape(sheet.title)}", escape(sheet.caption), _table(sheet)]
    return "\n\n".join([*parts, *map(escape, sheet.notes)])


def escape(text: str) -> str:
    """Return text that shows as it is, on one line."""
    one_line = " ".join(text.split())
    return _AS_ENTITY.sub(lambda found: f"&#{ord(found[0])};", _SPECIAL.sub(r"\\\1", one_line))


def _table(sheet: Sheet) -> str:
    rows = [[_cell(cell) for cell in row] for group in sheet.groups for row in group]
    rule = [":--", *[":--" if sheet.words else "--:"] * (len(sheet.columns) - 1)]
    lines = [[escape(name) for name in sheet.columns], rule, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(cell: Cell) -> str:
    stars = "*" * (2 * cell.bold + cell.italic)
    text = f"{stars}{escape(cell.text)}{stars}"
    text = f"<u>{text}</u>" if cell.underline else text
    text += f"<sup>{escape(cell.raised)}</sup>" if cell.raised else ""
    return text + (f"<br>{escape(cell.below)}" if cell.below else "")
