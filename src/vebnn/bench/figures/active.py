"""Active learning: how fast each way of asking learns, and where it asks."""

from collections.abc import Mapping

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vebnn.datasets.toy import DATA_RANGE, true_noise_std
from vebnn.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, STYLE, logarithmic, open_frame

_COLOURS = (BLUE, GREEN, ORANGE, GREY)
_NUM_BINS = 20


def plot_active(
    sizes: np.ndarray, errors: Mapping[str, np.ndarray], questions: Mapping[str, np.ndarray]
) -> Figure:
    """Draw the learning curves of several methods, and the inputs they asked for.

    Args:
      sizes: ``(rounds,)``, rows known at each round.
      errors: for each of up to four methods, ``(seeds, rounds)``, the RMSE. Curves are means over
        seeds, bands one standard error to either side.
      questions: for each method, the inputs it chose, all seeds together.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(11.5, 4.6), layout="constrained", facecolor="white")
        curves, places = figure.subplots(1, 2, width_ratios=(1.15, 1))
        # What the figure is about is drawn last, on top.
        for name, colour in reversed([*zip(errors, _COLOURS, strict=False)]):
            _draw_curve(curves, sizes, errors[name], name, colour)
            _draw_places(places, questions[name], name, colour)
        _draw_noise(places)
        _finish_curves(curves, sizes)
        _finish_places(places)
    return figure


def _draw_curve(axes: Axes, sizes: np.ndarray, errors: np.ndarray, name: str, colour: str) -> None:
    mean = errors.mean(0)
    if len(errors) > 1:
        reach = errors.std(0, ddof=1) / np.sqrt(len(errors))
        axes.fill_between(sizes, mean - reach, mean + reach, color=colour, alpha=0.15, linewidth=0)
    axes.plot(sizes, mean, color=colour, linewidth=2, marker="o", markersize=4, label=name)


def _draw_places(axes: Axes, questions: np.ndarray, name: str, colour: str) -> None:
    axes.hist(
        questions,
        bins=_NUM_BINS,
        range=DATA_RANGE,
        weights=np.full(len(questions), 100 / max(len(questions), 1)),
        histtype="step",
        color=colour,
        linewidth=2,
        label=name,
    )


def _draw_noise(axes: Axes) -> None:
    x = np.linspace(*DATA_RANGE, 200)
    scale = axes.twinx()
    scale.plot(x, true_noise_std(x), color=BLACK, linewidth=1.3, linestyle=(0, (4, 2)))
    scale.set_ylim(0, 2 * true_noise_std(x).max())
    scale.set_ylabel("std of the noise (dashed)")
    scale.spines["top"].set_visible(False)


def _finish_curves(axes: Axes, sizes: np.ndarray) -> None:
    axes.set_title("How well the function is known")
    axes.set_xlabel("measurements")
    axes.set_ylabel("RMSE of the mean")
    logarithmic(axes)
    axes.set_xticks(sizes)
    open_frame(axes)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], frameon=False, title="ask by", alignment="left")


def _finish_places(axes: Axes) -> None:
    axes.set_title("Where it asked")
    axes.set_xlabel("x")
    axes.set_ylabel("share of the questions [%]")
    axes.set_xlim(*DATA_RANGE)
    axes.spines["top"].set_visible(False)
