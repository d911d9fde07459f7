"""The two stds of rows."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from vebnn.plots.bands import COLOURS, LABELS
from vebnn.plots.canvas import axes_to_draw_on
from vebnn.plots.targets import target_of
from vebnn.prediction import Prediction


def plot_uncertainties(
    prediction: Prediction,
    x: Any = None,
    *,
    target: str | int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the std of the noise and the epistemic std of rows.

    Args:
      prediction: of rows.
      x: ``(rows,)``, an input to draw them against, such as a column of a DataFrame; lines if it
        increases, otherwise dots. By default rows are sorted by their epistemic std.
      target: name or number of the target, if there are several.
      ax: axes to draw on; new ones by default.

    Raises:
      ValueError: if the prediction is of sequences, or ``x`` has not an entry per row.
    """
    found = target_of(prediction, target)
    if found.mean.ndim != 1:
        raise ValueError(
            f"The `prediction` must be of rows. Got shape {prediction.mean.shape}; use plot_sequence, "
            f"or take a time step first."
        )
    order, label = np.arange(len(found.mean)), str(getattr(x, "name", None) or "x")
    if x is None:
        order, label = np.argsort(found.epistemic_std), "rows, sorted by epistemic std"
    places = np.arange(1, len(order) + 1) if x is None else np.asarray(x, float)
    if places.shape != order.shape:
        raise ValueError(f"The `x` must have shape ({len(order)},). Got {places.shape}.")
    line = x is not None and bool(np.all(np.diff(places) > 0))
    style: dict[str, Any] = (
        {"linewidth": 2} if line else {"linewidth": 0, "marker": "o", "markersize": 3.5}
    )
    with axes_to_draw_on(ax) as axes:
        for part, colour in COLOURS.items():
            values = getattr(found, part)[order]
            axes.plot(places, values, color=colour, label=LABELS[part], **style)
        axes.set(xlabel=label, ylabel=f"standard deviation of {found.name}")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False)
    return axes
