"""Tables as one HTML file that needs no network: light and dark, sorted by a click."""

from html import escape
from importlib.resources import files

from vebnn.bench.render.sheet import Cell, Document, Sheet
from vebnn.tabular.report.page import asset

_STYLE = files("vebnn.bench.render") / "assets" / "tables.css"


def as_html(document: Document) -> str:
    """Return the text of an HTML file; whatever the document says is shown, and never executed."""
    title = escape(document.title)
    opening = "\n".join(f"<p>{escape(sentence)}</p>" for sentence in document.opening)
    sheets = "\n".join(map(_section, document.sheets))
    closing = "\n".join(f"<p>{escape(sentence)}</p>" for sentence in document.closing)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{asset("page.css")}{_STYLE.read_text("utf-8")}</style>
</head>
<body>
<header>
<h1>{title}</h1>
{opening}
</header>
<main>
{sheets}
</main>
<footer>{closing}</footer>
<script>{asset("sort.js")}</script>
</body>
</html>
"""


def _section(sheet: Sheet) -> str:
    header = "".join(
        f'<th scope="col"{_number(at)}><button>{escape(name)}</button></th>'
        for at, name in enumerate(sheet.columns)
    )
    rows = []
    for group in sheet.groups:
        for at, row in enumerate(group):
            cells = "".join(_cell(column, cell) for column, cell in enumerate(row))
            opening = "<tr>" if at else '<tr class="first">'
            rows.append(f"{opening}{cells}</tr>")
    body = "\n".join(rows)
    notes = "\n".join(f'<p class="hint">{escape(note)}</p>' for note in sheet.notes)
    return f"""<section>
<h2>{escape(sheet.title)}</h2>
<p>{escape(sheet.caption)}</p>
<div class="scroll">
<table class="sortable" aria-label="{escape(sheet.title)}">
<thead><tr>{header}</tr></thead>
<tbody>
{body}
</tbody>
</table>
</div>
{notes}
</section>"""


def _number(column: int) -> str:
    return ' class="number"' if column else ""


def _cell(column: int, cell: Cell) -> str:
    text = escape(cell.text)
    for wanted, tag in ((cell.italic, "i"), (cell.bold, "b"), (cell.underline, "u")):
        text = f"<{tag}>{text}</{tag}>" if wanted else text
    text += f"<sup>{escape(cell.raised)}</sup>" if cell.raised else ""
    text += f'<span class="below">{escape(cell.below)}</span>' if cell.below else ""
    sort = escape(cell.text if cell.sort is None else repr(cell.sort))
    return f'<td{_number(column)} data-sort="{sort}">{text}</td>'
