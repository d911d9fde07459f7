"""The paper's comparison of strategies: joint above, cooperative below, one column per engine."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from vebnn.bench.figures.curve import Curve, draw_curve, draw_truth
from vebnn.datasets.toy import DATA_RANGE, PLOT_RANGE, Toy, true_mean, true_noise_std
from vebnn.plots.steps import readable_limits
from vebnn.plots.style import GREY, PALE, legend_below, styled_figure


def plot_strategies(x: np.ndarray, pairs: Mapping[str, tuple[Curve, Curve]], data: Toy) -> Figure:
    """Draw the training data and, for every engine, the joint and the cooperative curve at ``x``."""
    with styled_figure(2.6 * len(pairs) + 0.8, 5.6) as figure:
        panels = figure.subplots(2, len(pairs), sharex=True, sharey=True, squeeze=False)
        for column, (engine, pair) in zip(panels.T, pairs.items(), strict=True):
            for axes, strategy, curve in zip(column, ("MVE", "VeBNN"), pair, strict=True):
                for low, high in ((PLOT_RANGE[0], DATA_RANGE[0]), (DATA_RANGE[1], PLOT_RANGE[1])):
                    axes.axvspan(low, high, color=PALE, linewidth=0, zorder=0)
                draw_curve(axes, x, curve)
                draw_truth(axes, x, true_mean(x), true_noise_std(x))
                axes.scatter(*(data.X[:, 0], data.y), 4, GREY, alpha=0.6, linewidth=0, label="data")
                axes.set_title(f"{strategy} ({engine})")
            column[1].set_xlabel("x")
        panels[0, 0].set(xlim=PLOT_RANGE, ylim=readable_limits(x, data), ylabel="joint")
        panels[1, 0].set_ylabel("cooperative")
        legend_below(figure, panels[0, 0])
    return figure
