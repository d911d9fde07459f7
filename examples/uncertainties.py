"""Pictures of the two uncertainties: what more data change, and what they do not change.

``python examples/uncertainties.py`` fits five models (a few minutes), prints their uncertainties and
writes two pictures to ``docs/images``.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vebnn import Prediction, VeBNNRegressor
from vebnn.datasets.toy import DATA_RANGE, Toy, load_toy, observe, true_mean, true_noise_std
from vebnn.plots import draw_band, plot_uncertainties
from vebnn.plots.style import BLACK, BLUE, ORANGE, STYLE, open_frame

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZES = (20, 100, 500)
PLACES = np.array([1.0, 3.0, 5.0, 7.0, 9.0])
REPEATS = (4, 100)
GRID = np.linspace(*DATA_RANGE, 301)


class Case(NamedTuple):
    """Data, and the prediction on the grid of a model fitted to them."""

    title: str
    data: Toy
    prediction: Prediction


def repeated(num_repeats: int, random_state: int = 0) -> Toy:
    """Return repeated measurements at the same few places."""
    x = np.repeat(PLACES, num_repeats)
    return Toy(x[:, None], observe(x, "heteroscedastic", np.random.default_rng(random_state)))


def learned(title: str, data: Toy) -> Case:
    """Fit a model to some data."""
    model = VeBNNRegressor(random_state=0).fit(*data)
    return Case(title, data, model.predict_distribution(GRID[:, None]))


def plot_cases(cases: Sequence[Case]) -> Figure:
    """Draw a column per case: the prediction with its 95 % bands above, its two stds below."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(3.7 * len(cases), 5.8), layout="constrained", facecolor="white")
        axes = figure.subplots(2, len(cases), sharex=True, sharey="row", height_ratios=(1.4, 1))
        for case, (above, below) in zip(cases, axes.T, strict=True):
            _draw_prediction(above, case)
            _draw_stds(below, case)
        axes[0, 0].set_ylim(-17, 17)
        axes[0, 0].set_ylabel("y")
        axes[1, 0].set_ylim(0, 4)
        axes[1, 0].set_ylabel("standard deviation")
        axes[0, 0].legend(frameon=False, ncols=2, loc="lower left", columnspacing=1.2)
        axes[1, 0].legend(frameon=False, loc="upper left")
    return figure


def _draw_prediction(axes: Axes, case: Case) -> None:
    prediction = case.prediction
    for std, colour, alpha, label in (
        (prediction.aleatoric_std, ORANGE, 0.25, "noise"),
        (prediction.epistemic_std, BLUE, 0.35, "epistemic"),
    ):
        draw_band(axes, GRID, prediction.mean, std, label, color=colour, alpha=alpha)
    x, y = case.data.X[:, 0], case.data.y
    axes.scatter(x, y, s=9, color=BLACK, alpha=0.5, linewidth=0, zorder=4, label="data")
    axes.plot(GRID, prediction.mean, color=BLUE, linewidth=2, label="mean")
    axes.plot(GRID, true_mean(GRID), color=BLACK, linewidth=1.1, linestyle=(0, (4, 2)), label="truth")
    axes.set_title(case.title)
    open_frame(axes)


def _draw_stds(axes: Axes, case: Case) -> None:
    plot_uncertainties(case.prediction, GRID, ax=axes)
    truth = true_noise_std(GRID)
    axes.plot(GRID, truth, color=BLACK, linewidth=1.1, linestyle=(0, (4, 2)), label="true noise")
    axes.set_ylabel("")  # one label and one legend for all columns
    axes.get_legend().remove()
    axes.set_xlim(*DATA_RANGE)
    open_frame(axes)


def main() -> None:
    """Fit, print and draw."""
    sizes = [learned(f"{number} measurements", load_toy(number)) for number in SIZES]
    repeats = [
        learned(f"{number} at each of {len(PLACES)} places", repeated(number)) for number in REPEATS
    ]
    print(f"mean over {DATA_RANGE}: true noise std {true_noise_std(GRID).mean():.2f}")
    for case in sizes:
        noise, epistemic = case.prediction.aleatoric_std, case.prediction.epistemic_std
        print(f"{case.title}: noise std {noise.mean():.2f}, epistemic std {epistemic.mean():.2f}")
    at, between = (np.isin(GRID.round(3), places) for places in (PLACES, PLACES[:-1] + 1))
    for case in repeats:
        noise, epistemic = case.prediction.aleatoric_std, case.prediction.epistemic_std
        print(
            f"{case.title}: there, noise std {noise[at].mean():.2f}, epistemic std "
            f"{epistemic[at].mean():.2f}; half-way between, {epistemic[between].mean():.2f}"
        )
    for name, cases in (("more-data", sizes), ("same-places", repeats)):
        plot_cases(cases).savefig(IMAGES / f"{name}.png", dpi=110)


if __name__ == "__main__":
    main()
