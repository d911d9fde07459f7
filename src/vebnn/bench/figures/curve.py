"""A predicted curve with its two bands, as panels of several figures have it."""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from vebnn.plots.style import BLACK, BLUE, ORANGE, TWO_SIDED_95


class Curve(NamedTuple):
    """What a model says along a line, in original units."""

    mean: np.ndarray
    aleatoric_std: np.ndarray
    epistemic_std: np.ndarray


def draw_curve(axes: Axes, x: np.ndarray, curve: Curve) -> None:
    """Draw the mean, and what holds 95 % of the noise and of the ignorance around it."""
    bands = (
        (curve.aleatoric_std, ORANGE, 0.3, "aleatoric, 95 %"),
        (curve.epistemic_std, BLUE, 0.33, "epistemic, 95 %"),
    )
    for std, colour, alpha, label in bands:
        reach = TWO_SIDED_95 * std
        axes.fill_between(
            x,
            curve.mean - reach,
            curve.mean + reach,
            color=colour,
            alpha=alpha,
            linewidth=0,
            label=label,
        )
    axes.plot(x, curve.mean, color=BLUE, linewidth=1.8, label="mean")


def draw_truth(axes: Axes, x: np.ndarray, mean: np.ndarray, noise_std: np.ndarray) -> None:
    """Draw the true mean, and the edges of what holds 95 % of the true noise around it."""
    axes.plot(x, mean, color=BLACK, linewidth=1.0, linestyle=(0, (4, 2)), zorder=4, label="truth")
    for sign, name in ((-1, None), (1, "true noise, 95 %")):
        edge = mean + sign * TWO_SIDED_95 * noise_std
        axes.plot(x, edge, color="#9A5B00", linewidth=0.9, linestyle=(0, (1, 1.5)), label=name)
