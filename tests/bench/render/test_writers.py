import html
import re

import pytest
from markdown_it import MarkdownIt

from vebnn.bench.render.latex import as_latex
from vebnn.bench.render.latex import escape as escape_latex
from vebnn.bench.render.markdown import as_markdown
from vebnn.bench.render.page import as_html
from vebnn.bench.render.sheet import Cell, Document, Sheet

NASTY = "a|b*c_d<b>e&f$g#h%i{j}~k^l\\m"
DOCUMENT = Document(
    title="All & more",
    opening=["First."],
    sheets=[
        Sheet(
            title="Numbers",
            caption="Of β, 100 % sure.",
            columns=("method", "x_1", "x|2"),
            groups=[
                [
                    [
                        Cell("MVE (β-NLL)"),
                        Cell("-1.0", bold=True, underline=True, raised="*−"),
                        Cell("–"),
                    ]
                ],
                [[Cell(NASTY), Cell("2.0", italic=True, below="paper -3.0"), Cell("3", sort=3.0)]],
            ],
            notes=["a: why"],
        )
    ],
    closing=["Last."],
)


def test_markdown() -> None:
    lines = as_markdown(DOCUMENT).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert rows[1] == "| :-- | --: | --: |"
    assert rows[2] == r"| MVE (β-NLL) | <u>**-1.0**</u><sup>\*−</sup> | – |"
    assert "*2.0*<br>paper -3.0" in rows[3]
    assert lines[-1] == "Last."


def test_markdown_as_it_is_read() -> None:
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(as_markdown(DOCUMENT))
    assert "<h1>All &amp; more</h1>" in page
    headers = re.findall(r"<th[^>]*>(.*)</th>", page)
    assert [html.unescape(text) for text in headers] == ["method", "x_1", "x|2"]
    cells = [html.unescape(text) for text in re.findall(r"<td[^>]*>(.*)</td>", page)]
    assert cells == [
        *("MVE (β-NLL)", "<u><strong>-1.0</strong></u><sup>*−</sup>", "–"),
        *(NASTY, "<em>2.0</em><br>paper -3.0", "3"),
    ]


def test_latex() -> None:
    text = as_latex(DOCUMENT)
    assert r"MVE ($\beta$-NLL) & \underline{\textbf{$-$1.0}}$^{*-}$ & -- \\" in text
    assert r"\shortstack{\textit{2.0}\\ {\scriptsize paper $-$3.0}} & 3 \\" in text
    assert r"\textbf{Numbers.} Of $\beta$, 100 \% sure." in text
    for command in ("toprule", "bottomrule", "begin{table*}", "end{table*}", "begin{tabular}{lcc}"):
        assert text.count(f"\\{command}") == 1
    assert text.count("\\midrule") == 2
    plain = re.sub(r"\\[{}]", "", text)
    assert plain.count("{") == plain.count("}")
    body = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in body} == {2}
    # What TeX would trip over is only left where it is meant.
    assert text.isascii()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("-2.5 (0.1)", "$-$2.5 (0.1)"),
        ("paper -2.5, +0.1", "paper $-$2.5, +0.1"),
        ("MC-Dropout", "MC-Dropout"),
        ("a-1", "a-1"),
        ("50 % of x_1 & {y} #1 $", r"50 \% of x\_1 \& \{y\} \#1 \$"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("p < 0.05", "p $<$ 0.05"),
    ],
)
def test_latex_escapes(given: str, expected: str) -> None:
    assert escape_latex(given) == expected


def test_html_shows_and_does_not_execute() -> None:
    text = as_html(DOCUMENT)
    assert "<title>All &amp; more</title>" in text
    assert "<b>e" not in text
    assert "a|b*c_d&lt;b&gt;e&amp;f$g#h%i{j}~k^l\\m" in text
    assert '<td class="number" data-sort="-1.0"><u><b>-1.0</b></u><sup>*−</sup></td>' in text
    assert '<td class="number" data-sort="3.0">3</td>' in text
    # One file: nothing is fetched.
    assert not re.search(r"(src|href)=|@import|url\(", text)
