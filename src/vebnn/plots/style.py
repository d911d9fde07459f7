"""Style of all figures, and saving them."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, LogLocator, MaxNLocator, NullFormatter
from scipy import special

from vebnn.serialization.files import write_bytes

# Okabe and Ito's palette, safe for common kinds of colour blindness.
GREEN, ORANGE, BLUE = "#009E73", "#E69F00", "#0072B2"
BLACK, GREY, PALE = "#1A1A1A", "#8C8C8C", "#F1F1F1"

TWO_SIDED_95 = float(special.ndtri(0.975))

# For `matplotlib.rc_context`, which leaves the caller's settings alone.
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.8,
    "axes.labelcolor": BLACK,
    "axes.titlesize": 11.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "legend.fontsize": 9,
    "figure.constrained_layout.w_pad": 0.12,
    "figure.constrained_layout.h_pad": 0.12,
    # Reproducible files: no random ids.
    "svg.hashsalt": "vebnn",
    "svg.fonttype": "path",
}
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


def open_frame(axes: Axes) -> None:
    """Hide the lines above and to the right of a panel."""
    axes.spines[["top", "right"]].set_visible(False)


def logarithmic(axes: Axes, which: Literal["x", "y"] = "y") -> None:
    """Make a scale logarithmic, with plain decimal numbers at the ticks."""
    axes.set(**{f"{which}scale": "log"})
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axis.get_view_interval()
    # Less than a decade may hold no power of ten: take round numbers as on a linear scale.
    subs = (1, 2, 5) if high < 1_000 * low else (1,)  # labels must not overlap
    ticks = MaxNLocator(5, steps=(1, 2, 5, 10)) if high < 10 * low else LogLocator(subs=subs)
    axis.set_major_locator(ticks)
    axis.set_major_formatter(FormatStrFormatter("%g"))
    axis.set_minor_formatter(NullFormatter())


def save_figure(figure: Figure, folder: str | Path, name: str) -> tuple[Path, Path]:
    """Write ``name.png`` and ``name.svg`` to a folder, each completely or not at all."""
    paths = Path(folder) / f"{name}.png", Path(folder) / f"{name}.svg"
    with matplotlib.rc_context(STYLE):
        for path in paths:
            content, kind = io.BytesIO(), path.suffix[1:]
            metadata = {"Date": None} if kind == "svg" else None  # reproducible: no date
            figure.savefig(content, format=kind, dpi=160, metadata=metadata)
            write_bytes(path, content.getvalue())
    return paths
