r"""Tables as LaTeX, to be read with ``\input`` by a paper that uses booktabs."""

import re

from vebnn.bench.render.sheet import Cell, Document, Sheet

_SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "<": "$<$",
    ">": "$>$",
    "β": r"$\beta$",
    "±": r"$\pm$",
    "≥": r"$\geq$",
    "−": "$-$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "→": r"$\rightarrow$",
    "·": r"$\cdot$",
    "–": "--",
}
_NEEDS = (
    r"% Needs \usepackage{booktabs}.",
    r"% A table that is too wide needs \resizebox{\textwidth}{!}{...} of graphicx, or fewer data sets.",
)


def as_latex(document: Document) -> str:
    """Return the text of a LaTeX file."""
    opening = [f"% {' '.join(line.split())}" for line in (document.title, *document.opening)]
    head = [*opening, *_NEEDS, ""]
    closing = [f"% {' '.join(line.split())}" for line in document.closing]
    return "\n".join([*head, *(_table(sheet) for sheet in document.sheets), *closing, ""])


def escape(text: str) -> str:
    """Return text that LaTeX sets as it is; a minus before a number is a minus."""
    text = re.sub(r"(?<![\w-])-(?=\d)", "−", " ".join(text.split()))
    return "".join(_SIGNS.get(letter, letter) for letter in text)


def _table(sheet: Sheet) -> str:
    lines = [
        r"\begin{table*}",
        rf"\caption{{\textbf{{{escape(sheet.title)}.}} {escape(sheet.caption)}}}",
        r"\centering",
        rf"\begin{{tabular}}{{l{'c' * (len(sheet.columns) - 1)}}}",
        r"\toprule",
        _line([escape(name) for name in sheet.columns]),
    ]
    for group in sheet.groups:
        lines += [r"\midrule", *(_line([_cell(cell) for cell in row]) for row in group)]
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\smallskip{{\footnotesize {escape(note)}\par}}" for note in sheet.notes]
    return "\n".join([*lines, r"\end{table*}", ""])


def _line(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _cell(cell: Cell) -> str:
    text = escape(cell.text)
    styles = ((cell.italic, "textit"), (cell.bold, "textbf"), (cell.underline, "underline"))
    for wanted, command in styles:
        text = rf"\{command}{{{text}}}" if wanted else text
    text += f"$^{{{cell.raised.replace('−', '-')}}}$" if cell.raised else ""
    below = rf"\\ {{\scriptsize {escape(cell.below)}}}" if cell.below else ""
    return rf"\shortstack{{{text}{below}}}" if below else text
