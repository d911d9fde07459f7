"""The paper's figures of the plasticity law: predictions along a path, and reliability diagrams."""

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from vebnn.bench.figures.curve import Curve, plot_curves
from vebnn.plots.bands import draw_coverage, draw_diagonal
from vebnn.plots.style import styled_figure


def plot_paths(
    curves: Mapping[int, Mapping[str, Curve]], truth_mean: np.ndarray, truth_std: np.ndarray
) -> Figure:
    """Draw the predictions of one test path; a row of panels for every amount of data.

    Args:
      curves: number of training paths → method → prediction, ``(steps,)`` each.
      truth_mean: the true stress, ``(steps,)``.
      truth_std: the true noise, ``(steps,)``.
    """
    steps = np.arange(1, len(truth_mean) + 1)
    rows = {f"{num_paths} paths · stress": by_name for num_paths, by_name in curves.items()}
    return plot_curves(rows, steps, (truth_mean, truth_std), "step")


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
