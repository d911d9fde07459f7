"""The paper's figure of noise with two modes: branches with their bands, and a slice through them."""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from vebnn.bench.figures.styled import styled_figure
from vebnn.datasets.two_modes import TwoModes, true_modes
from vebnn.plots.style import BLACK, BLUE, GREY, ORANGE, TWO_SIDED_95, open_frame


class Branches(NamedTuple):
    """A prediction along a line, in original units; modes first."""

    x: np.ndarray  # (points,)
    mean: np.ndarray  # (modes, points)
    aleatoric_std: np.ndarray
    epistemic_std: np.ndarray


class Slice(NamedTuple):
    """A prediction at one x."""

    x: float
    y: np.ndarray  # (points,)
    density: np.ndarray  # (points,): of the mixture
    mean: np.ndarray  # (modes,)
    aleatoric_std: np.ndarray


def plot_two_modes(data: TwoModes, branches: Branches, cut: Slice) -> Figure:
    """Draw data and predicted branches on the left, the distribution at one x on the right.

    Bands hold 95 %. On the right, dots are means and bars reach one std to either side.
    """
    with styled_figure(11.5, 4.6) as figure:
        left, right = figure.subplots(1, 2, width_ratios=(1.45, 1))
        open_frame(left)
        open_frame(right)
        _draw_branches(left, data, branches)
        left.axvline(cut.x, color=BLACK, linewidth=0.9, linestyle=":", zorder=2)
        _draw_slice(right, cut)
    return figure


def _draw_branches(axes: Axes, data: TwoModes, branches: Branches) -> None:
    axes.set_title("Two modes, each with its own noise")
    axes.scatter(data.X[:, 0], data.y, s=7, color=GREY, alpha=0.55, linewidth=0, zorder=1, label="data")
    x, truth = branches.x, true_modes(branches.x)
    for number, mean in enumerate(branches.mean):
        noise, epistemic = (
            TWO_SIDED_95 * std[number] for std in (branches.aleatoric_std, branches.epistemic_std)
        )
        # Every label once, though every branch is drawn.
        names = iter(("noise", "epistemic", "predicted mean", "truth") if number == 0 else [None] * 4)
        for half, colour, alpha in ((noise, ORANGE, 0.28), (epistemic, BLUE, 0.4)):
            band: dict[str, Any] = {"color": colour, "alpha": alpha, "linewidth": 0, "zorder": 3}
            axes.fill_between(x, mean - half, mean + half, label=next(names), **band)
        axes.plot(x, mean, color=BLUE, linewidth=2, zorder=5, label=next(names))
        dashed: dict[str, Any] = {"color": BLACK, "linestyle": (0, (4, 2)), "zorder": 6}
        axes.plot(x, truth.mean[number], linewidth=1.2, label=next(names), **dashed)
        for sign in (-1, 1):
            edge = truth.mean[number] + sign * TWO_SIDED_95 * truth.std[number]
            axes.plot(x, edge, linewidth=0.7, alpha=0.7, **dashed)
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.16 * (high - low))
    axes.legend(loc="upper left", ncols=5, frameon=False, handlelength=1.9, columnspacing=1.2)


def _draw_slice(axes: Axes, cut: Slice) -> None:
    axes.set_title(f"The slice at x = {cut.x:g}")
    truth = true_modes(np.asarray(cut.x))
    density = stats.norm.pdf(cut.y[:, None], truth.mean, truth.std) @ truth.weight
    axes.fill_between(cut.y, 0, cut.density, color=ORANGE, alpha=0.28, linewidth=0)
    axes.plot(cut.y, cut.density, color=BLUE, linewidth=2, label="predicted")
    axes.plot(cut.y, density, color=BLACK, linewidth=1.2, linestyle=(0, (4, 2)), label="truth")
    top = max(float(density.max()), float(cut.density.max()))
    bars = ((cut.mean, cut.aleatoric_std, BLUE, 1.16), (truth.mean, truth.std, BLACK, 1.1))
    for mean, std, colour, height in bars:
        heights = np.full(len(mean), height * top)
        axes.errorbar(mean, heights, xerr=std, fmt="o", markersize=4, capsize=3, color=colour)
    axes.set_ylim(0, 1.42 * top)
    axes.set_xlabel("y")
    axes.set_ylabel("density")
    axes.legend(loc="upper left", ncols=2, frameon=False)
