"""What figures share: colours of the two uncertainties, bands, the diagonal."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from vebnn.plots.style import BLACK, BLUE, ORANGE, TWO_SIDED_95

# In all figures the noise is orange and the model's ignorance is blue.
COLOURS = {"aleatoric_std": ORANGE, "epistemic_std": BLUE}
LABELS = {"aleatoric_std": "noise", "epistemic_std": "epistemic"}
DASHED: dict[str, Any] = {"color": BLACK, "linewidth": 1.1, "linestyle": (0, (4, 2))}


def draw_band(axes: Axes, x: Any, mean: Any, std: Any, label: str | None, **style: Any) -> None:
    """Draw the band that holds 95 % of N(mean, std²)."""
    mean, reach = np.asarray(mean), TWO_SIDED_95 * np.asarray(std)
    axes.fill_between(x, mean - reach, mean + reach, label=label, linewidth=0, **style)


def draw_prediction(axes: Axes, x: np.ndarray, prediction: Any, edges: Sequence[np.ndarray]) -> None:
    """Draw the mean, the epistemic 95 % band, and the band of new observations between two edges."""
    lower, upper = edges
    area: dict[str, Any] = {"linewidth": 0, "color": ORANGE, "alpha": 0.25}
    axes.fill_between(x, lower, upper, label="new observation, 95 %", **area)
    epistemic: dict[str, Any] = {"color": BLUE, "alpha": 0.33}
    draw_band(axes, x, prediction.mean, prediction.epistemic_std, "mean, 95 %", **epistemic)
    axes.plot(x, prediction.mean, color=BLUE, linewidth=1.8, label="mean")


def draw_coverage(
    axes: Axes, levels: Sequence[float], coverage: Any, label: str, colour: Any = BLUE
) -> None:
    """Draw observed against nominal coverage."""
    style = {"color": colour, "marker": "o", "markersize": 3.5, "label": label}
    axes.plot(levels, coverage, **style)


def draw_diagonal(axes: Axes, label: str | None = None, *, through: float = 0.0) -> None:
    """Draw the line on which both coordinates are equal, through a point that is in view."""
    axes.axline((through, through), slope=1, label=label, zorder=1, **DASHED)
