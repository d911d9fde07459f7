"""The paper's Figure 1: what each step of a fitted model adds."""

from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vebnn.datasets.toy import DATA_RANGE, PLOT_RANGE, Toy, true_mean, true_noise_std
from vebnn.estimators import VeBNNRegressor
from vebnn.inference.evaluation import evaluate
from vebnn.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, PALE, STYLE, TWO_SIDED_95, open_frame
from vebnn.prediction import Prediction


class Steps(NamedTuple):
    """What the three learners of a fitted model say along a line, in original units."""

    x: np.ndarray  # (points,)
    mean_network: np.ndarray  # Step 1
    prediction: Prediction  # noise of Step 2, mean and epistemic spread of Step 3


def steps_along(model: VeBNNRegressor, x: np.ndarray) -> Steps:
    """Evaluate every step of a fitted model with one input and one output.

    Args:
      model: a fitted model.
      x: ``(points,)``, inputs in original units.
    """
    rows = x[:, None]
    fitted = model.fitted_
    standardised = model.x_units_.standardise(rows).astype(np.float32)
    outputs = np.asarray(evaluate(fitted.skeleton, fitted.mean_params, standardised), float)
    return Steps(x, model.y_units_.restore(outputs)[:, 0], model.predict_distribution(rows))


def plot_steps(model: VeBNNRegressor, data: Toy, *, num_points: int = 500) -> Figure:
    """Draw the paper's Figure 1: truth and data, then what each of the three steps adds.

    Bands hold 95 %. The vertical scale follows the data and the truth, so that both stay readable
    where the epistemic band opens far beyond the panel.

    Args:
      model: a model fitted to ``data``.
      data: the heteroscedastic toy data.
      num_points: resolution along x.
    """
    steps = steps_along(model, np.linspace(*PLOT_RANGE, num_points))
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(11.5, 7.6), layout="constrained", facecolor="white")
        axes = figure.subplots(2, 2, sharex=True, sharey=True)
        panels = (_draw_truth, _draw_step_1, _draw_step_2, _draw_step_3)
        for panel, draw in zip(axes.flat, panels, strict=True):
            _draw_common(panel, steps.x, data)
            draw(panel, steps)
            _add_legend(panel)
        axes[0, 0].set_xlim(*PLOT_RANGE)
        axes[0, 0].set_ylim(*readable_limits(steps.x, data))
        for panel in axes[1]:
            panel.set_xlabel("x")
        for panel in axes[:, 0]:
            panel.set_ylabel("y")
    return figure


def readable_limits(x: np.ndarray, data: Toy) -> tuple[float, float]:
    """Return y-limits that hold the data and the truth, with room for a legend and an open band."""
    shown = np.concatenate([data.y, true_mean(x)])
    low, high = float(shown.min()), float(shown.max())
    return low - 0.35 * (high - low), high + 0.4 * (high - low)


def _draw_common(axes: Axes, x: np.ndarray, data: Toy) -> None:
    """Data, truth and the range of the data, in every panel."""
    for low, high in ((PLOT_RANGE[0], DATA_RANGE[0]), (DATA_RANGE[1], PLOT_RANGE[1])):
        axes.axvspan(low, high, color=PALE, linewidth=0, zorder=0)
        axes.text(
            (low + high) / 2,
            0.03,
            "no data",
            transform=axes.get_xaxis_transform(),
            ha="center",
            color=GREY,
            fontsize=9,
            fontstyle="italic",
        )
    axes.scatter(
        data.X[:, 0], data.y, s=11, color=GREY, alpha=0.75, linewidth=0, zorder=4, label="data"
    )
    axes.plot(
        x, true_mean(x), color=BLACK, linewidth=1.3, linestyle=(0, (4, 2)), zorder=6, label="truth"
    )
    open_frame(axes)
    axes.set_xticks(np.arange(-4, 15, 2))


def _draw_truth(axes: Axes, steps: Steps) -> None:
    axes.set_title("Truth and data")
    centre, reach = true_mean(steps.x), TWO_SIDED_95 * true_noise_std(steps.x)
    axes.fill_between(
        steps.x, centre - reach, centre + reach, color=GREY, alpha=0.22, linewidth=0, label="true noise"
    )


def _draw_step_1(axes: Axes, steps: Steps) -> None:
    axes.set_title("Step 1 · the mean network")
    axes.plot(steps.x, steps.mean_network, color=GREEN, linewidth=2.2, zorder=5, label="mean network")


def _draw_step_2(axes: Axes, steps: Steps) -> None:
    axes.set_title("Step 2 · the variance network learns the noise")
    mean, reach = steps.mean_network, TWO_SIDED_95 * steps.prediction.aleatoric_std
    axes.plot(steps.x, mean, color=GREEN, linewidth=2.2, zorder=5, label="mean network")
    axes.fill_between(
        steps.x,
        mean - reach,
        mean + reach,
        color=ORANGE,
        alpha=0.38,
        linewidth=0,
        label="learned noise",
    )
    true_reach = TWO_SIDED_95 * true_noise_std(steps.x)
    for sign, label in ((-1, "true noise around it"), (1, None)):
        axes.plot(
            steps.x,
            mean + sign * true_reach,
            color="#9A5B00",
            linewidth=1.2,
            linestyle=(0, (3, 2)),
            zorder=5,
            label=label,
        )


def _draw_step_3(axes: Axes, steps: Steps) -> None:
    axes.set_title("Step 3 · the Bayesian network adds its ignorance")
    prediction = steps.prediction
    mean = prediction.mean
    noise, ignorance = (
        TWO_SIDED_95 * std for std in (prediction.aleatoric_std, prediction.epistemic_std)
    )
    axes.fill_between(
        steps.x, mean - noise, mean + noise, color=ORANGE, alpha=0.2, linewidth=0, label="noise"
    )
    axes.fill_between(
        steps.x,
        mean - ignorance,
        mean + ignorance,
        color=BLUE,
        alpha=0.33,
        linewidth=0,
        zorder=3,
        label="epistemic",
    )
    axes.plot(steps.x, mean, color=BLUE, linewidth=2.2, zorder=5, label="posterior mean")


def _add_legend(axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    # What a panel adds comes first; truth and data, which all panels share, last.
    order = sorted(range(len(labels)), key=lambda index: labels[index] in ("truth", "data"))
    axes.legend(
        [handles[index] for index in order],
        [labels[index] for index in order],
        loc="upper left",
        ncols=3,
        frameon=False,
        handlelength=1.9,
        columnspacing=1.4,
        borderaxespad=0.3,
    )
