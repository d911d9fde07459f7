"""Predicted noise against the scatter of repeats."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from vebnn.bench.repeats import Repeats
from vebnn.plots.bands import draw_diagonal
from vebnn.plots.style import BLUE, GREY, legend_below, styled_figure

NUM_BINS = 8
FEWEST_IN_A_BIN = 9


def plot_repeats(panels: Mapping[str, Mapping[str, tuple[np.ndarray, Repeats]]]) -> Figure:
    """Draw a row of panels per data set and a panel per method, with logarithmic axes.

    ``panels`` are data set → method → predicted noise std and repeats of every condition.
    """
    width = max(len(methods) for methods in panels.values())
    with styled_figure(1.0 + 2.7 * width, 0.7 + 2.8 * len(panels)) as figure:
        grid = figure.subplots(len(panels), width, squeeze=False)
        for line, (dataset, methods) in zip(grid, panels.items(), strict=True):
            limits = _limits(methods)
            for axes, (method, found) in zip(line, methods.items(), strict=False):
                _draw(axes, *found)
                axes.set(xscale="log", yscale="log", title=method, **limits)
                axes.title.set_fontsize(10)
                for axis in (axes.xaxis, axes.yaxis):
                    axis.set_minor_formatter(NullFormatter())
            line[0].set_ylabel(f"{dataset}\nscatter of repeats")
            for axes in line[len(methods) :]:
                axes.set_axis_off()
        for axes in grid[-1]:
            axes.set_xlabel("predicted noise std")
        legend_below(figure, grid[0, 0])
    return figure


def _draw(axes: Axes, noise_std: np.ndarray, repeats: Repeats) -> None:
    seen = repeats.scatter > 0  # a logarithmic scale has no place for equal repeats
    style: dict[str, Any] = {"color": GREY, "alpha": 0.45, "linewidths": 0, "s": 9, "rasterized": True}
    axes.scatter(noise_std[seen], repeats.scatter[seen], label="a condition", **style)
    draw_diagonal(axes, "equal", through=1)
    centres = binned(noise_std, repeats)
    axes.plot(*centres, color=BLUE, marker="o", markersize=5, linewidth=1.5, label="rms of a bin")


def binned(noise_std: np.ndarray, repeats: Repeats) -> tuple[np.ndarray, np.ndarray]:
    """Return rms predicted noise and pooled scatter of bins of conditions with similar predictions."""
    num = int(np.clip(len(noise_std) // FEWEST_IN_A_BIN, 1, NUM_BINS))
    bins = np.array_split(np.argsort(noise_std), num)
    weights = repeats.num_repeats - 1
    rms = [
        [np.sqrt(np.average(part[some] ** 2, weights=weights[some])) for some in bins]
        for part in (noise_std, repeats.scatter)
    ]
    return np.array(rms[0]), np.array(rms[1])


def _limits(methods: Mapping[str, tuple[np.ndarray, Repeats]]) -> dict[str, tuple[float, float]]:
    """Return limits that show every prediction, and all but the smallest scatters."""
    noises = np.concatenate([noise for noise, _ in methods.values()])
    scatters = np.concatenate([repeats.scatter for _, repeats in methods.values()])
    low = np.quantile(scatters[scatters > 0], 0.02)
    # At least two decades, so that every panel has ticks with numbers.
    middle, reach = np.sqrt(noises.min() * noises.max()), np.sqrt(noises.max() / noises.min())
    reach = max(1.3 * reach, 10)
    return {
        "xlim": (float(middle / reach), float(middle * reach)),
        "ylim": (float(low / 1.3), float(max(noises.max(), scatters.max()) * 1.3)),
    }
