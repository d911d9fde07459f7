"""Active learning: the error after each round, and where each method queries."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vebnn.datasets.toy import DATA_RANGE, true_noise_std
from vebnn.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, logarithmic, styled_figure

_COLOURS = (BLUE, GREEN, ORANGE, GREY)
_NUM_BINS = 20


def plot_active(
    sizes: np.ndarray, errors: Mapping[str, np.ndarray], queries: Mapping[str, np.ndarray]
) -> Figure:
    """Draw the learning curves of several methods, and the inputs they queried.

    Args:
      sizes: ``(rounds,)``, rows known at each round.
      errors: for each of up to four methods, ``(seeds, rounds)``, the RMSE. Curves are means over
        seeds, bands one standard error to either side.
      queries: for each method, the inputs it chose, all seeds together.
    """
    with styled_figure(11.5, 4.6) as figure:
        curves, places = figure.subplots(1, 2, width_ratios=(1.15, 1))
        # The first method is drawn last, on top.
        for name, colour in reversed([*zip(errors, _COLOURS, strict=False)]):
            _draw_curve(curves, sizes, errors[name], name, colour)
            weights = np.full(len(queries[name]), 100 / max(len(queries[name]), 1))
            style: dict[str, Any] = {"histtype": "step", "color": colour, "linewidth": 2, "label": name}
            places.hist(queries[name], bins=_NUM_BINS, range=DATA_RANGE, weights=weights, **style)
        _draw_noise(places)
        logarithmic(curves)
        curves.set(title="How well the function is known", xlabel="measurements", xticks=sizes)
        curves.set_ylabel("RMSE of the mean")
        handles, labels = curves.get_legend_handles_labels()
        curves.legend(handles[::-1], labels[::-1], frameon=False, title="ask by", alignment="left")
        places.set(title="Where it asked", xlabel="x", xlim=DATA_RANGE)
        places.set_ylabel("share of the questions [%]")
        places.spines["right"].set_visible(True)
    return figure


def _draw_curve(axes: Axes, sizes: np.ndarray, errors: np.ndarray, name: str, colour: str) -> None:
    mean = errors.mean(0)
    if len(errors) > 1:
        half = errors.std(0, ddof=1) / np.sqrt(len(errors))
        axes.fill_between(sizes, mean - half, mean + half, color=colour, alpha=0.15, linewidth=0)
    axes.plot(sizes, mean, color=colour, linewidth=2, marker="o", markersize=4, label=name)


def _draw_noise(axes: Axes) -> None:
    x = np.linspace(*DATA_RANGE, 200)
    scale = axes.twinx()
    scale.plot(x, true_noise_std(x), color=BLACK, linewidth=1.3, linestyle=(0, (4, 2)))
    scale.set(ylim=(0, 2 * true_noise_std(x).max()), ylabel="std of the noise (dashed)")
    scale.spines["right"].set_visible(True)
