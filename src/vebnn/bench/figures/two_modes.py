"""The paper's figure of noise with two modes: branches with their bands, and a slice through them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from vebnn.datasets.two_modes import TwoModes, true_modes
from vebnn.plots import draw_band
from vebnn.plots.style import BLACK, BLUE, GREY, ORANGE, TWO_SIDED_95, styled_figure

Lists = Mapping[str, Any]  # lists of numbers, as in a row of results


def plot_two_modes(data: TwoModes, branches: Lists, cut: Lists) -> Figure:
    """Draw data and predicted branches on the left, the distribution at one x on the right.

    Bands hold 95 %. On the right, dots are means and bars reach one std to either side.

    Args:
      data: the rows of both modes.
      branches: ``x`` ``(points,)``; ``mean``, ``aleatoric_std`` and ``epistemic_std``
        ``(modes, points)``.
      cut: at one ``x``: ``density`` of the mixture at ``y`` ``(points,)``; ``mean`` and
        ``aleatoric_std`` ``(modes,)``.
    """
    with styled_figure(11.5, 4.6) as figure:
        left, right = figure.subplots(1, 2, width_ratios=(1.45, 1))
        _draw_branches(left, data, {name: np.asarray(values) for name, values in branches.items()})
        left.axvline(cut["x"], color=BLACK, linewidth=0.9, linestyle=":", zorder=2)
        _draw_slice(right, cut)
    return figure


def _draw_branches(axes: Axes, data: TwoModes, branches: Mapping[str, np.ndarray]) -> None:
    axes.scatter(data.X[:, 0], data.y, s=7, color=GREY, alpha=0.55, linewidth=0, zorder=1, label="data")
    x, truth = branches["x"], true_modes(branches["x"])
    bands = (("aleatoric_std", ORANGE, 0.28), ("epistemic_std", BLUE, 0.4))
    for number, mean in enumerate(branches["mean"]):
        # Every label once, though every branch is drawn.
        names = iter(("noise", "epistemic", "predicted mean", "truth") if number == 0 else [None] * 4)
        for field, colour, alpha in bands:
            look: dict[str, Any] = {"color": colour, "alpha": alpha, "zorder": 3}
            draw_band(axes, x, mean, branches[field][number], next(names), **look)
        axes.plot(x, mean, color=BLUE, linewidth=2, zorder=5, label=next(names))
        dashed: dict[str, Any] = {"color": BLACK, "linestyle": (0, (4, 2)), "zorder": 6}
        axes.plot(x, truth.mean[number], linewidth=1.2, label=next(names), **dashed)
        for sign in (-1, 1):
            edge = truth.mean[number] + sign * TWO_SIDED_95 * truth.std[number]
            axes.plot(x, edge, linewidth=0.7, alpha=0.7, **dashed)
    low, high = axes.get_ylim()
    axes.set(title="Two modes, each with its own noise", xlabel="x", ylabel="y")
    axes.set_ylim(low, high + 0.16 * (high - low))
    axes.legend(loc="upper left", ncols=5, frameon=False, handlelength=1.9, columnspacing=1.2)


def _draw_slice(axes: Axes, cut: Lists) -> None:
    y, predicted, truth = np.asarray(cut["y"]), cut["density"], true_modes(np.asarray(cut["x"]))
    density = stats.norm.pdf(y[:, None], truth.mean, truth.std) @ truth.weight
    axes.fill_between(y, 0, predicted, color=ORANGE, alpha=0.28, linewidth=0)
    axes.plot(y, predicted, color=BLUE, linewidth=2, label="predicted")
    axes.plot(y, density, color=BLACK, linewidth=1.2, linestyle=(0, (4, 2)), label="truth")
    top = max(*density, *predicted)
    bars = ((cut["mean"], cut["aleatoric_std"], BLUE, 1.16), (truth.mean, truth.std, BLACK, 1.1))
    for mean, std, colour, height in bars:
        heights = np.full(len(mean), height * top)
        axes.errorbar(mean, heights, xerr=std, fmt="o", markersize=4, capsize=3, color=colour)
    title = f"The slice at x = {cut['x']:g}"
    axes.set(title=title, xlabel="y", ylabel="density", ylim=(0, 1.42 * top))
    axes.legend(loc="upper left", ncols=2, frameon=False)
