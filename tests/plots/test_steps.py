from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from vebnn.datasets.toy import Toy, load_toy
from vebnn.estimators import VeBNNRegressor
from vebnn.inference import Ensemble
from vebnn.networks import MLP
from vebnn.plots import plot_steps, readable_limits, save_figure, steps_along
from vebnn.training import Training

SHORT = Training(num_epochs=150, learning_rate=1e-2)


@pytest.fixture(scope="module")
def data() -> Toy:
    return load_toy(60, random_state=3)


@pytest.fixture(scope="module")
def model(data: Toy) -> VeBNNRegressor:
    return VeBNNRegressor(
        MLP((10,), activation="tanh"),
        inference=Ensemble(num_members=3, training=SHORT),
        mean_training=SHORT,
        variance_training=SHORT,
        num_folds=2,
        random_state=0,
    ).fit(data.X, data.y)


@pytest.fixture(scope="module")
def figure(model: VeBNNRegressor, data: Toy) -> Figure:
    return plot_steps(model, data, num_points=80)


def band_of(axes, label: str) -> np.ndarray:
    """Return the outline of a band, (points, 2)."""
    (band,) = [one for one in axes.collections if one.get_label() == label]
    return band.get_paths()[0].vertices


def test_four_panels_share_their_axes(figure: Figure) -> None:
    assert len(figure.axes) == 4
    assert {axes.get_xlim() for axes in figure.axes} == {(-4.0, 14.0)}
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    titles = [axes.get_title("left") for axes in figure.axes]
    assert [title.split(" ·")[0] for title in titles] == [
        "Truth and data",
        "Step 1",
        "Step 2",
        "Step 3",
    ]


def test_every_panel_has_the_data_and_the_truth(figure: Figure, data: Toy) -> None:
    for axes in figure.axes:
        (points,) = [one for one in axes.collections if one.get_label() == "data"]
        np.testing.assert_array_equal(points.get_offsets(), np.column_stack([data.X, data.y]))
        (truth,) = [line for line in axes.lines if line.get_label() == "truth"]
        x, y = truth.get_data()
        np.testing.assert_allclose(y, x * np.sin(x))


def test_the_true_band_is_95_percent_of_the_true_noise(figure: Figure) -> None:
    outline = band_of(figure.axes[0], "true noise")
    x, y = outline[:, 0], outline[:, 1]
    reach = np.abs(y - x * np.sin(x))
    expected = 1.959964 * 0.3 * np.sqrt(1 + x**2)
    # The outline begins and ends with a point of its own.
    assert np.mean(np.isclose(reach, expected, rtol=1e-5)) > 0.95


def test_bands_of_the_steps_are_those_of_the_model(
    figure: Figure, model: VeBNNRegressor, data: Toy
) -> None:
    steps = steps_along(model, np.linspace(-4, 14, 80))
    prediction = steps.prediction
    for number, label, centre, std in (
        (2, "learned noise", steps.mean_network, prediction.aleatoric_std),
        (3, "noise", prediction.mean, prediction.aleatoric_std),
        (3, "epistemic", prediction.mean, prediction.epistemic_std),
    ):
        heights = band_of(figure.axes[number], label)[:, 1]
        np.testing.assert_allclose(heights.max(), (centre + 1.959964 * std).max(), rtol=1e-5)
        np.testing.assert_allclose(heights.min(), (centre - 1.959964 * std).min(), rtol=1e-5)


def test_step_1_is_the_mean_network_in_the_users_units(model: VeBNNRegressor, data: Toy) -> None:
    steps = steps_along(model, data.X[:, 0])
    # Trained on these rows: it must explain them better than their average does.
    assert np.mean((steps.mean_network - data.y) ** 2) < np.var(data.y)


def test_limits_hold_the_data_however_far_the_band_opens(figure: Figure, data: Toy) -> None:
    low, high = readable_limits(np.linspace(-4, 14, 80), data)
    assert low < data.y.min() < data.y.max() < high
    # The data must fill a good part of the panel.
    assert high - low < 3 * np.ptp(data.y)
    assert figure.axes[3].get_ylim() == (low, high)


def test_the_same_figure_gives_the_same_drawing(
    model: VeBNNRegressor, data: Toy, tmp_path: Path
) -> None:
    contents = []
    for folder in ("one", "two"):
        _, drawing = save_figure(plot_steps(model, data, num_points=30), tmp_path / folder, "name")
        contents.append(drawing.read_bytes())
    assert contents[0] == contents[1]
