"""The paper's comparison of strategies: joint above, cooperative below, one column per engine."""

from collections.abc import Mapping

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vebnn.bench.figures.curve import Curve, draw_curve, draw_truth
from vebnn.datasets.toy import DATA_RANGE, PLOT_RANGE, Toy, true_mean, true_noise_std
from vebnn.plots.steps import readable_limits
from vebnn.plots.style import GREY, PALE, STYLE, open_frame


def plot_strategies(x: np.ndarray, pairs: Mapping[str, tuple[Curve, Curve]], data: Toy) -> Figure:
    """Draw the joint and the cooperative model of every engine.

    Args:
      x: where the curves are known.
      pairs: engine → (joint, cooperative).
      data: what all models were fitted to.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(2.6 * len(pairs) + 0.8, 5.6), layout="constrained", facecolor="white")
        panels = figure.subplots(2, len(pairs), sharex=True, sharey=True, squeeze=False)
        for column, (engine, pair) in enumerate(pairs.items()):
            for row, (strategy, curve) in enumerate(zip(("MVE", "VeBNN"), pair, strict=True)):
                axes = panels[row, column]
                _draw_panel(axes, x, curve, data)
                axes.set_title(f"{strategy} ({engine})")
        panels[0, 0].set_xlim(*PLOT_RANGE)
        panels[0, 0].set_ylim(*readable_limits(x, data))
        for axes in panels[1]:
            axes.set_xlabel("x")
        panels[0, 0].set_ylabel("joint")
        panels[1, 0].set_ylabel("cooperative")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure


def _draw_panel(axes: Axes, x: np.ndarray, curve: Curve, data: Toy) -> None:
    for low, high in ((PLOT_RANGE[0], DATA_RANGE[0]), (DATA_RANGE[1], PLOT_RANGE[1])):
        axes.axvspan(low, high, color=PALE, linewidth=0, zorder=0)
    draw_curve(axes, x, curve)
    draw_truth(axes, x, true_mean(x), true_noise_std(x))
    axes.scatter(data.X[:, 0], data.y, s=4, color=GREY, alpha=0.6, linewidth=0, label="data")
    open_frame(axes)
