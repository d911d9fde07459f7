"""What a page is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from matplotlib.figure import Figure


@dataclass(frozen=True)
class Page:
    """A page of results."""

    text: str  # Markdown
    # Figures by name; they are saved in a folder with the name of the page, beside it.
    figures: Mapping[str, Figure] = field(default_factory=dict)
