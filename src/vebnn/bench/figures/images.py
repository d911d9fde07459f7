"""Both uncertainties of images against the label, and the learned noise against the true one."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vebnn.plots.bands import draw_diagonal
from vebnn.plots.style import BLACK, BLUE, ORANGE, legend_below, styled_figure

OUTSIDE = "#FBE3E6"  # light pink, as in the paper

Curve = Mapping[str, Any]


def plot_uncertainties(panels: Mapping[str, Mapping[str, Sequence[Curve]]]) -> Figure:
    """Draw a row of panels per data set and a panel per method; labels outside are pink.

    ``panels`` are data set → method → the curve of every seed, as in the field ``curve`` of a row.
    """
    width = max(len(methods) for methods in panels.values())
    with styled_figure(1.0 + 3.0 * width, 0.7 + 2.8 * len(panels), framed=True) as figure:
        grid = figure.subplots(len(panels), width, squeeze=False, sharey="row")
        for line, (dataset, methods) in zip(grid, panels.items(), strict=True):
            for axes, (method, curves) in zip(line, methods.items(), strict=False):
                _draw_curves(axes, curves)
                axes.set_title(method, fontsize=10)
            line[0].set_ylabel(f"{dataset}\nmean std")
            line[0].set_ylim(bottom=0)
            for axes in line[len(methods) :]:
                axes.set_axis_off()
        for axes in grid[-1]:
            axes.set_xlabel("label")
        legend_below(figure, grid[0, 0])
    return figure


def _draw_curves(axes: Axes, curves: Sequence[Curve]) -> None:
    for low, high, share in zip(*(curves[0][name] for name in ("low", "high", "shifted")), strict=True):
        if share > 0.5:
            axes.axvspan(low, high, color=OUTSIDE, linewidth=0, zorder=0)
    looks = {"aleatoric_std": ("aleatoric", ORANGE), "epistemic_std": ("epistemic", BLUE)}
    for curve in curves:
        middle = (np.array(curve["low"]) + np.array(curve["high"])) / 2
        first = curve is curves[0]
        for field, (name, colour) in looks.items():
            if curve[field] is not None:
                style: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 3}
                axes.plot(middle, curve[field], label=name if first else None, linewidth=1.6, **style)
        error: dict[str, Any] = {"color": BLACK, "linewidth": 1, "linestyle": ":"}
        axes.plot(middle, curve["error"], label="RMSE" if first else None, **error)
    axes.set_xlim(curves[0]["low"][0], curves[0]["high"][-1])


def plot_noise_levels(methods: Mapping[str, Curve]) -> Figure:
    """Draw a panel per method: the learned noise std of each level of the true one.

    ``methods`` are method → the field ``noise_levels`` of a row; bars hold four fifths of the images.
    """
    largest = 1.1 * max(max(*levels["truth"], *levels["high"]) for levels in methods.values())
    with styled_figure(1.0 + 2.7 * len(methods), 3.6) as figure:
        (line,) = figure.subplots(1, len(methods), squeeze=False, sharey=True)
        for axes, (method, levels) in zip(line, methods.items(), strict=True):
            truth, learned = np.array(levels["truth"]), np.array(levels["learned"])
            # Predictions can be so skewed that their mean is outside four fifths of them.
            below = np.maximum(learned - levels["low"], 0)
            above = np.maximum(np.array(levels["high"]) - learned, 0)
            draw_diagonal(axes, "equal")
            style: dict[str, Any] = {"color": ORANGE, "fmt": "o", "markersize": 5, "capsize": 2}
            axes.errorbar(truth, learned, (below, above), label="learned: mean and 80 %", **style)
            axes.set(xlim=(0, largest), ylim=(0, largest), xlabel="true noise std")
            axes.set_title(method, fontsize=10)
        line[0].set_ylabel("learned noise std")
        legend_below(figure, line[0])
    return figure
