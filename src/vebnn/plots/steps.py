"""The paper's Figure 1: the steps of a fitted model."""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vebnn.datasets.toy import DATA_RANGE, PLOT_RANGE, Toy, true_mean, true_noise_std
from vebnn.estimators import VeBNNRegressor
from vebnn.inference.evaluation import evaluate
from vebnn.plots.bands import draw_band
from vebnn.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, PALE, TWO_SIDED_95, styled_figure
from vebnn.prediction import Prediction


class Steps(NamedTuple):
    """Predictions of the three steps along a line, in original units."""

    x: np.ndarray  # (points,)
    mean_network: np.ndarray  # Step 1
    prediction: Prediction  # noise of Step 2, mean and epistemic spread of Step 3


def steps_along(model: VeBNNRegressor, x: np.ndarray) -> Steps:
    """Evaluate every step of a model with one input and one output at ``x``, ``(points,)``."""
    rows = x[:, None]
    standardised, _ = model._inputs(rows)
    outputs = np.asarray(evaluate(model.fitted_.mean, standardised), float)
    return Steps(x, model.y_units_.restore(outputs)[:, 0], model.predict_distribution(rows))


def plot_steps(model: VeBNNRegressor, data: Toy, *, num_points: int = 500) -> Figure:
    """Draw the paper's Figure 1: truth and data, then what each of the three steps adds.

    Bands hold 95 %. The vertical scale follows the data and the truth, so that both stay readable
    where the epistemic band leaves the panel.

    Args:
      model: a model fitted to ``data``.
      data: the heteroscedastic toy data.
      num_points: resolution along x.
    """
    steps = steps_along(model, np.linspace(*PLOT_RANGE, num_points))
    with styled_figure(11.5, 7.6) as figure:
        axes = figure.subplots(2, 2, sharex=True, sharey=True)
        panels = (_draw_truth, _draw_step_1, _draw_step_2, _draw_step_3)
        for panel, draw in zip(axes.flat, panels, strict=True):
            _draw_common(panel, steps.x, data)
            draw(panel, steps)
            _add_legend(panel)
        axes[0, 0].set(xlim=PLOT_RANGE, ylim=readable_limits(steps.x, data))
        for panel in axes[1]:
            panel.set_xlabel("x")
        for panel in axes[:, 0]:
            panel.set_ylabel("y")
    return figure


def readable_limits(x: np.ndarray, data: Toy) -> tuple[float, float]:
    """Return y-limits that hold the data and the truth, with room for a legend."""
    shown = np.concatenate([data.y, true_mean(x)])
    low, high = float(shown.min()), float(shown.max())
    return low - 0.35 * (high - low), high + 0.4 * (high - low)


def _draw_common(axes: Axes, x: np.ndarray, data: Toy) -> None:
    """Draw the data, the truth and the range of the data."""
    note: dict[str, Any] = {"ha": "center", "color": GREY, "fontsize": 9, "fontstyle": "italic"}
    for low, high in ((PLOT_RANGE[0], DATA_RANGE[0]), (DATA_RANGE[1], PLOT_RANGE[1])):
        axes.axvspan(low, high, color=PALE, linewidth=0, zorder=0)
        axes.text((low + high) / 2, 0.03, "no data", transform=axes.get_xaxis_transform(), **note)
    axes.scatter(
        data.X[:, 0], data.y, s=11, color=GREY, alpha=0.75, linewidth=0, zorder=4, label="data"
    )
    style = {"linewidth": 1.3, "linestyle": (0, (4, 2)), "zorder": 6}
    _draw_line(axes, x, true_mean(x), "truth", color=BLACK, **style)
    axes.set_xticks(np.arange(-4, 15, 2))


def _draw_truth(axes: Axes, steps: Steps) -> None:
    axes.set_title("Truth and data")
    noise_std = true_noise_std(steps.x)
    draw_band(axes, steps.x, true_mean(steps.x), noise_std, "true noise", color=GREY, alpha=0.22)


def _draw_step_1(axes: Axes, steps: Steps) -> None:
    axes.set_title("Step 1 · the mean network")
    _draw_line(axes, steps.x, steps.mean_network, "mean network", color=GREEN)


def _draw_step_2(axes: Axes, steps: Steps) -> None:
    axes.set_title("Step 2 · the variance network learns the noise")
    x, mean = steps.x, steps.mean_network
    _draw_line(axes, x, mean, "mean network", color=GREEN)
    std = steps.prediction.aleatoric_std
    draw_band(axes, x, mean, std, "learned noise", color=ORANGE, alpha=0.38)
    style = {"color": "#9A5B00", "linewidth": 1.2, "linestyle": (0, (3, 2))}
    for sign, label in ((-1, "true noise around it"), (1, None)):
        _draw_line(axes, x, mean + sign * TWO_SIDED_95 * true_noise_std(x), label, **style)


def _draw_step_3(axes: Axes, steps: Steps) -> None:
    axes.set_title("Step 3 · the Bayesian network")
    x, found = steps.x, steps.prediction
    draw_band(axes, x, found.mean, found.aleatoric_std, "noise", color=ORANGE, alpha=0.2)
    draw_band(axes, x, found.mean, found.epistemic_std, "epistemic", color=BLUE, alpha=0.33, zorder=3)
    _draw_line(axes, x, found.mean, "posterior mean", color=BLUE)


def _draw_line(axes: Axes, x: np.ndarray, y: np.ndarray, label: str | None, **style: Any) -> None:
    axes.plot(x, y, label=label, **{"linewidth": 2.2, "zorder": 5} | style)


def _add_legend(axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    # Truth and data, which all panels share, come last.
    order = sorted(range(len(labels)), key=lambda index: labels[index] in ("truth", "data"))
    spacing: dict[str, Any] = {"handlelength": 1.9, "columnspacing": 1.4, "borderaxespad": 0.3}
    axes.legend(
        handles=[handles[index] for index in order], loc="upper left", ncols=3, frameon=False, **spacing
    )
