"""Which inputs matter: scale and effect of each, with their intervals."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vebnn.estimators import Spread, VeBNNRegressor
from vebnn.plots.style import BLUE, GREY, logarithmic, styled_figure


def plot_relevance(model: VeBNNRegressor, *, most: int = 30) -> Figure:
    """Draw scale and effect of each input with their 95 % intervals, the largest effect on top.

    Args:
      model: a fitted model whose network has learned scales.
      most: number of inputs to draw, those with the largest effects.

    Raises:
      ValueError: if the network has no learned scales.
    """
    relevance = model.relevance_
    if relevance is None:
        raise ValueError(
            "The `model` must have learned scales, so that `relevance_` is not None. Use "
            'network=MLP(..., prior="learned") with an engine that samples, such as "psghmc".'
        )
    shown = relevance.order[:most]
    with styled_figure(9.5, 1.5 + 0.3 * len(shown)) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        _draw(left, relevance.scale, shown)
        left.axvline(1, color=GREY, linewidth=1, linestyle=(0, (4, 2)), zorder=0)
        left.set(title="Scale", xlabel="prior scale of the weights; its prior median is 1")
        logarithmic(left, "x")
        _draw(right, relevance.effect, shown)
        right.set(title="Effect", xlabel="std it gives to the mean, in stds of the target")
        right.set_xlim(left=0)
        names = [relevance.names[number] for number in shown]
        left.set_yticks(np.arange(len(shown)), names)
        left.set_ylim(len(shown) - 0.5, -0.5)
    return figure


def _draw(axes: Axes, spread: Spread, shown: np.ndarray) -> None:
    """Draw a dot and an interval for each input."""
    places, (mean, lower, upper) = np.arange(len(shown)), (part[shown] for part in spread)
    axes.hlines(places, lower, upper, color=BLUE, linewidth=2.2, alpha=0.45)
    axes.scatter(mean, places, s=34, color=BLUE, zorder=3)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color="#EEEEEE", linewidth=0.8)
    axes.set_axisbelow(True)
