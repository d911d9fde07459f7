"""The paper's figures of the plasticity law: predictions along a path, and reliability diagrams."""

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from vebnn.bench.figures.curve import Curve, draw_curve, draw_truth
from vebnn.plots.bands import draw_coverage, draw_diagonal
from vebnn.plots.style import legend_below, styled_figure


def plot_paths(
    curves: Mapping[int, Mapping[str, Curve]], truth_mean: np.ndarray, truth_std: np.ndarray
) -> Figure:
    """Draw the predictions of one test path; a row of panels for every amount of data.

    Args:
      curves: number of training paths → method → prediction, ``(steps,)`` each.
      truth_mean: the true stress, ``(steps,)``.
      truth_std: the true noise, ``(steps,)``.
    """
    names = list(dict.fromkeys(name for row in curves.values() for name in row))
    steps = np.arange(1, len(truth_mean) + 1)
    with styled_figure(3.0 * len(names) + 0.8, 2.7 * len(curves) + 0.6) as figure:
        panels = figure.subplots(len(curves), len(names), sharex=True, sharey=True, squeeze=False)
        for line, (num_paths, by_name) in zip(panels, curves.items(), strict=True):
            line[0].set_ylabel(f"{num_paths} paths · stress")
            for axes, name in zip(line, names, strict=True):
                axes.set_title(name)
                draw_truth(axes, steps, truth_mean, truth_std)
                if name in by_name:
                    draw_curve(axes, steps, by_name[name])
        for axes in panels[-1]:
            axes.set_xlabel("step")
        legend_below(figure, panels[0, 0])
    return figure


def plot_reliability(levels: Sequence[float], held: Mapping[str, Mapping[int, Sequence]]) -> Figure:
    """Draw the coverage of intervals against their level; a panel for every method.

    Args:
      levels: nominal coverages.
      held: method → number of training paths → coverage at every level, of every run.
    """
    with styled_figure(3.4 * len(held) + 0.6, 4.2) as figure:
        panels = figure.subplots(1, len(held), sharex=True, sharey=True, squeeze=False)[0]
        colours = matplotlib.colormaps["viridis"]
        for axes, (name, by_size) in zip(panels, held.items(), strict=True):
            draw_diagonal(axes)
            for place, (num_paths, shares) in enumerate(by_size.items()):
                colour = colours(0.9 * place / max(len(by_size) - 1, 1))
                draw_coverage(axes, levels, np.mean(shares, axis=0), str(num_paths), colour)
            axes.set(title=name, xlabel="promised", aspect="equal")
        panels[0].set_ylabel("share of truths inside")
        panels[0].legend(title="training paths", frameon=False)
    return figure
