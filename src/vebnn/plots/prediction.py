"""A model with one input, and one sequence: the mean and its bands."""

from typing import Any

import numpy as np
import pandas
from matplotlib.axes import Axes
from sklearn.utils.validation import check_is_fitted

from vebnn.core.arguments import require_number
from vebnn.plots.bands import draw_prediction
from vebnn.plots.canvas import axes_to_draw_on
from vebnn.plots.style import GREY
from vebnn.plots.targets import observed, target_of
from vebnn.prediction import Prediction

NUM_POINTS = 400


def plot_prediction(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    margin: float = 0.2,
    target: str | int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a model with one input: its mean, the band of the mean and that of new observations.

    Args:
      model: a fitted model with one input.
      X: rows, ``(rows, 1)``; the line covers their range.
      y: their targets, drawn as dots.
      margin: how far the line goes beyond the rows, as a share of their range.
      target: name or number of the target, if the model has several.
      ax: axes to draw on; new ones by default.

    Raises:
      ValueError: if the model has several inputs.
    """
    check_is_fitted(model)
    require_number("margin", margin, 0, np.inf, "[)")
    if len(model.in_shape_) != 1 or model.in_shape_[0] != 1:
        raise ValueError(
            f"The `model` must have one input for plot_prediction. Got inputs of shape "
            f"{model.in_shape_}; use plot_parity, plot_uncertainties or plot_sequence with a "
            f"prediction, or plot_explanation."
        )
    rows = np.asarray(X, float)
    if rows.ndim != 2 or rows.shape[1] != 1 or not len(rows):
        raise ValueError(f"The `X` must have shape (rows, 1). Got {rows.shape}.")
    low, high = float(rows.min()), float(rows.max())
    beyond = margin * (high - low)
    x = np.linspace(low - beyond, high + beyond, NUM_POINTS)
    names = getattr(model, "feature_names_in_", None)
    line = x[:, None] if names is None else pandas.DataFrame({names[0]: x})
    prediction = model.predict_distribution(line)
    found = target_of(prediction, target, y)
    dots = None if y is None else _of_rows(y, rows, found.at)
    with axes_to_draw_on(ax) as axes:
        draw_prediction(axes, x, found, found.interval(prediction))
        if dots is not None:
            style: dict[str, Any] = {"s": 11, "color": GREY, "linewidth": 0, "label": "data"}
            axes.scatter(rows[:, 0], dots, zorder=4, alpha=0.75, **style)
        axes.set(xlabel="x" if names is None else str(names[0]), ylabel=found.name)
        axes.legend(frameon=False)
    return axes


def _of_rows(y: Any, rows: np.ndarray, at: int | None) -> np.ndarray:
    values = np.asarray(y, float)
    if len(values) != len(rows) or values.ndim != (1 if at is None else 2):
        raise ValueError(
            f"The `y` must be the targets of the {len(rows)} rows of X, as in fit. Got shape "
            f"{values.shape}."
        )
    return values if at is None else values[:, at]


def plot_sequence(
    prediction: Prediction,
    row: int = 0,
    y: Any = None,
    *,
    time: Any = None,
    target: str | int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one sequence: mean, band of the mean and band of new observations over time.

    Args:
      prediction: of sequences, ``(rows, time, outputs)``.
      row: number of the sequence.
      y: the targets of all sequences, of which this one's are drawn as dots.
      time: ``(time,)``, the places on the axis, such as a pandas Series with a name; steps from 1 by
        default.
      target: name or number of the target, if there are several.
      ax: axes to draw on; new ones by default.

    Raises:
      ValueError: if the prediction is not of sequences, or has no such row.
    """
    found = target_of(prediction, target, y)
    if found.mean.ndim != 2:
        raise ValueError(
            f"The `prediction` must be of sequences, (rows, time, outputs). Got shape "
            f"{prediction.mean.shape}; use plot_parity or plot_uncertainties."
        )
    num_rows, num_steps = found.mean.shape
    if not -num_rows <= row < num_rows:
        raise ValueError(f"The `row` must be a whole number below {num_rows}. Got {row!r}.")
    x = np.arange(1, num_steps + 1) if time is None else np.asarray(time, float)
    if x.shape != (num_steps,):
        raise ValueError(f"The `time` must have shape ({num_steps},). Got {x.shape}.")
    dots = None if y is None else observed(y, prediction, found)[row]
    edges = [end[row] for end in found.interval(prediction)]
    one = found._replace(mean=found.mean[row], epistemic_std=found.epistemic_std[row])
    with axes_to_draw_on(ax) as axes:
        draw_prediction(axes, x, one, edges)
        if dots is not None:
            axes.scatter(x, dots, s=11, color=GREY, linewidth=0, zorder=4, label="data")
        name = "step" if time is None else str(getattr(time, "name", None) or "time")
        axes.set(xlabel=name, ylabel=found.name)
        axes.legend(frameon=False)
    return axes
