"""The paper's convergence figures: scores against the amount of data."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pandas
from matplotlib.figure import Figure

from vebnn.plots.style import BLACK, BLUE, GREEN, ORANGE, legend_below, logarithmic, styled_figure

# Fields with these endings have a logarithmic scale.
LOGARITHMIC = ("rmse", "rmse_percent", "wasserstein", "interval_length")
FAR_BELOW = -100
_COLOURS = (ORANGE, GREEN, BLACK, "#CC79A7", "#56B4E9", "#D55E00")
_MARKERS = "osD^vP"
_MOST_IN_A_LINE = 4


def plot_convergence(
    rows: Sequence[Mapping[str, Any]], size: str, panels: Mapping[str, str], across: str
) -> Figure:
    """Draw medians over runs, with bands from the lowest to the highest.

    ``size`` is the field with the amount of data, ``across`` its label; ``panels`` are field → title.
    Errors are on a logarithmic scale. So are log-likelihoods if one is far below zero, because an
    overconfident method misses by orders of magnitude.
    """
    frame = pandas.DataFrame(rows).astype(dict.fromkeys(panels, float))
    scores = frame.groupby(["method", size])[list(panels)].agg(["min", "median", "max"])
    styles = cycle(zip(_COLOURS, _MARKERS, strict=True))
    looks = dict(zip(frame["method"].unique(), styles, strict=False))
    height = -(-len(panels) // _MOST_IN_A_LINE)
    width = -(-len(panels) // height)
    with styled_figure(3.9 * width, 4.3 * height) as figure:
        axes = figure.subplots(height, width, squeeze=False).ravel()
        for panel, (field, title) in zip(axes, panels.items(), strict=False):
            panel.set_xscale("log")
            if scores[field, "min"].min() < FAR_BELOW:
                panel.set_yscale("symlog", linthresh=10)
            for name, (colour, marker) in looks.items():
                some = scores.loc[name, field]
                if some["median"].isna().all():
                    continue
                # VeBNN is blue in every figure.
                colour = BLUE if name.startswith("VeBNN") else colour
                band = {"color": colour, "alpha": 0.15, "linewidth": 0}
                panel.fill_between(some.index, some["min"], some["max"], **band)
                style = {"color": colour, "marker": marker, "markersize": 4.5, "linewidth": 1.8}
                panel.plot(some.index, some["median"], label=name, **style)
            if field.endswith(LOGARITHMIC):
                logarithmic(panel)
            sizes = np.unique(frame.loc[frame["method"] == frame["method"][0], size])
            panel.set(title=title, xlabel=across, xticks=sizes, xticklabels=map(str, sizes))
            panel.minorticks_off()
        legend_below(figure, axes[0], most=5)
    return figure
