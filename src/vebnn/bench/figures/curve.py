"""A predicted curve with its aleatoric and epistemic bands."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from vebnn.plots import draw_band
from vebnn.plots.style import BLACK, BLUE, ORANGE, TWO_SIDED_95
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


def draw_truth(axes: Axes, x: np.ndarray, mean: np.ndarray, noise_std: np.ndarray) -> None:
    """Draw the true mean, and the edges of the 95 % band of the true noise."""
    axes.plot(x, mean, color=BLACK, linewidth=1.0, linestyle=(0, (4, 2)), zorder=4, label="truth")
    for sign, name in ((-1, None), (1, "true noise, 95 %")):
        edge = mean + sign * TWO_SIDED_95 * noise_std
        axes.plot(x, edge, color="#9A5B00", linewidth=0.9, linestyle=(0, (1, 1.5)), label=name)
