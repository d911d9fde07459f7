"""A predicted curve with its aleatoric and epistemic bands."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vebnn.plots import draw_band
from vebnn.plots.style import BLACK, BLUE, ORANGE, TWO_SIDED_95, legend_below, styled_figure
from vebnn.prediction import Prediction

Curve = Mapping[str, Sequence[float]]  # mean, aleatoric_std and epistemic_std, as in a row of results


def curve_of(prediction: Prediction, at: Any = ...) -> dict[str, list[float]]:
    """Return the part of a prediction that the index ``at`` selects, with four digits."""
    return {
        name: [float(f"{value:.4g}") for value in getattr(prediction, name)[at]]
        for name in ("mean", "aleatoric_std", "epistemic_std")
    }


def draw_curve(axes: Axes, x: np.ndarray, curve: Curve) -> None:
    """Draw the mean and its 95 % bands."""
    mean = np.asarray(curve["mean"])
    for name, colour, alpha in (("aleatoric", ORANGE, 0.3), ("epistemic", BLUE, 0.33)):
        std = curve[f"{name}_std"]
        draw_band(axes, x, mean, std, f"{name}, 95 %", color=colour, alpha=alpha)
    axes.plot(x, mean, color=BLUE, linewidth=1.8, label="mean")


def plot_curves(
    rows: Mapping[str, Mapping[str, Curve]],
    x: np.ndarray,
    truth: tuple[np.ndarray, np.ndarray],
    across: str,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """Draw predictions over their truth: a row of panels for every label, a column for every method.

    Args:
      rows: label of the row → method → prediction at ``x``.
      x: ``(points,)``.
      truth: mean and std of the noise at ``x``.
      across: label of the horizontal axis.
      limits: of the vertical axis.
    """
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    with styled_figure(3.0 * len(names) + 0.8, 2.7 * len(rows) + 0.6) as figure:
        panels = figure.subplots(len(rows), len(names), sharex=True, sharey=True, squeeze=False)
        for line, (label, by_name) in zip(panels, rows.items(), strict=True):
            line[0].set_ylabel(label)
            for axes, name in zip(line, names, strict=True):
                axes.set_title(name)
                draw_truth(axes, x, *truth)
                if name in by_name:
                    draw_curve(axes, x, by_name[name])
        for axes in panels[-1]:
            axes.set_xlabel(across)
        if limits is not None:
            panels[0, 0].set_ylim(limits)
        legend_below(figure, panels[0, 0])
    return figure


def draw_truth(axes: Axes, x: np.ndarray, mean: np.ndarray, noise_std: np.ndarray) -> None:
    """Draw the true mean, and the edges of the 95 % band of the true noise."""
    axes.plot(x, mean, color=BLACK, linewidth=1.0, linestyle=(0, (4, 2)), zorder=4, label="truth")
    for sign, name in ((-1, None), (1, "true noise, 95 %")):
        edge = mean + sign * TWO_SIDED_95 * noise_std
        axes.plot(x, edge, color="#9A5B00", linewidth=0.9, linestyle=(0, (1, 1.5)), label=name)
