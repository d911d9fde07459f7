"""Predictions against observations: rows one by one, and the coverage of intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from scipy import stats

from vebnn.core.arguments import require_number, require_whole
from vebnn.metrics import coverage
from vebnn.metrics.intervals import LEVELS
from vebnn.plots.bands import draw_coverage, draw_diagonal
from vebnn.plots.canvas import axes_to_draw_on
from vebnn.plots.style import BLACK, BLUE, GREY, ORANGE, TWO_SIDED_95
from vebnn.plots.targets import observed, target_of
from vebnn.prediction import Prediction


def plot_parity(
    prediction: Prediction,
    y: Any,
    *,
    target: str | int | None = None,
    most: int = 500,
    ax: Axes | None = None,
) -> Axes:
    """Draw predicted against observed values, with 95 % bars of the mean and of new observations.

    Args:
      prediction: of rows or sequences.
      y: what was observed, in the shape of the prediction; NaN is left out.
      target: name or number of the target, if there are several.
      most: number of dots, evenly spaced among the sorted observations.
      ax: axes to draw on; new ones by default.
    """
    require_whole("most", most, 1)
    found = target_of(prediction, target, y)
    x = observed(y, prediction, found).ravel()
    reach = TWO_SIDED_95 * found.epistemic_std
    lower, upper = found.interval(prediction)
    parts = (found.mean, found.mean - reach, found.mean + reach, lower, upper)
    known = np.flatnonzero(np.isfinite(x) & np.isfinite(found.mean.ravel()))
    if not len(known):
        raise ValueError("The `y` must hold at least one observation. Got none but NaN.")
    order = known[np.argsort(x[known], kind="stable")]
    shown = order[np.unique(np.linspace(0, len(order) - 1, most).round().astype(int))]
    x = x[shown]
    mean, low, high, lower, upper = (part.ravel()[shown] for part in parts)
    with axes_to_draw_on(ax, 5.2, 5.0) as axes:
        draw_diagonal(axes, "equal", through=float(x[0]))
        axes.vlines(
            x, lower, upper, color=ORANGE, linewidth=2.2, alpha=0.4, label="new observation, 95 %"
        )
        axes.vlines(x, low, high, color=BLUE, linewidth=2.2, alpha=0.6, label="mean, 95 %")
        axes.scatter(x, mean, s=9, color=BLACK, linewidth=0, zorder=3, label="rows")
        axes.set(xlabel=f"observed {found.name}", ylabel=f"predicted {found.name}")
        axes.legend(frameon=False)
    return axes


def plot_reliability(
    prediction: Prediction,
    y: Any,
    *,
    target: str | int | None = None,
    levels: Sequence[float] = LEVELS,
    ax: Axes | None = None,
) -> Axes:
    """Draw the share of observations inside central intervals against the level of the intervals.

    The grey range holds 95 % of the shares that exact intervals would have with as many independent
    rows. Points above the diagonal: intervals are too wide; below: too narrow.

    Args:
      prediction: of rows that the model was not trained on.
      y: what was observed, in the shape of the prediction; NaN is left out.
      target: name or number of the target, if there are several.
      levels: of the intervals, each between 0 and 1.
      ax: axes to draw on; new ones by default.
    """
    for level in levels:
        require_number("levels", level, 0, 1)
    found = target_of(prediction, target, y)
    values = observed(y, prediction, found)
    known = np.isfinite(values) & np.isfinite(found.mean)
    if not known.any():
        raise ValueError("The `y` must hold at least one observation. Got none but NaN.")
    ends = [[end[known] for end in found.interval(prediction, level)] for level in levels]
    shares = [coverage(values[known], *both) for both in ends]
    count = int(known.sum())
    low, high = (stats.binom.ppf(q, count, levels) / count for q in (0.025, 0.975))
    with axes_to_draw_on(ax, 4.8, 4.6) as axes:
        axes.fill_between(levels, low, high, color=GREY, alpha=0.25, linewidth=0, label="chance, 95 %")
        draw_diagonal(axes)
        draw_coverage(axes, levels, shares, f"{count:,} observations")
        axes.set(xlabel="nominal coverage", ylabel=f"observed coverage of {found.name}")
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axes.legend(frameon=False)
    return axes
