"""An empty figure in the style of all figures."""

from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vebnn.plots.style import STYLE

# No lines above and to the right of a panel.
OPEN_FRAMES = {"axes.spines.top": False, "axes.spines.right": False}


@contextmanager
def styled_figure(width: float, height: float, *, framed: bool = False) -> Iterator[Figure]:
    """Return a white figure; whatever is drawn in the context has the common style."""
    with matplotlib.rc_context(STYLE if framed else STYLE | OPEN_FRAMES):
        yield Figure(figsize=(width, height), layout="constrained", facecolor="white")


def legend_below(figure: Figure, axes: Axes, most: int = 99) -> None:
    """Put the legend of one panel below all of them, in at most so many columns."""
    handles, labels = axes.get_legend_handles_labels()
    ncols = min(len(labels), most)
    figure.legend(handles, labels, loc="outside lower center", ncols=ncols, frameon=False)
