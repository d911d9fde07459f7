"""MkDocs hook: convert equations to MathML at build time, so that pages need no network."""

import html
import re
from typing import Any

from latex2mathml.converter import convert

_EQUATION = re.compile(r'class="arithmatex">\s*\\([(\[])(.+?)\\[)\]]\s*<', re.DOTALL)


def on_page_content(content: str, **_: Any) -> str:
    """Replace the TeX marked by the arithmatex extension."""

    def to_mathml(found: re.Match) -> str:
        display = "block" if found[1] == "[" else "inline"
        return f'class="arithmatex">{convert(html.unescape(found[2]), display=display)}<'

    return _EQUATION.sub(to_mathml, content)
