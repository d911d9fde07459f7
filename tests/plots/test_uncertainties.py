"""Both stds of rows, and what features add to them."""

from dataclasses import replace

import numpy as np
import pandas
import pytest
from matplotlib.figure import Figure

from tests.support.predictions import of_moments
from vebnn.estimators import Attribution, Explanation
from vebnn.plots import plot_explanation, plot_uncertainties


def lines(axes) -> dict:
    return {line.get_label(): line for line in axes.lines}


def test_rows_are_sorted_by_what_the_model_does_not_know() -> None:
    axes = plot_uncertainties(of_moments([0, 0, 0], [4.0, 1.0, 9.0], [1.0, 4.0, 16.0]))
    np.testing.assert_allclose(lines(axes)["epistemic"].get_data(), [[1, 2, 3], [1, 2, 3]])
    np.testing.assert_allclose(lines(axes)["noise"].get_ydata(), [2, 1, 4])
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylabel() == "standard deviation of y"


@pytest.mark.parametrize(("x", "dots"), [([1.0, 2.0, 5.0], False), ([2.0, 1.0, 1.0], True)])
def test_against_an_input_are_lines_if_it_increases(x, dots) -> None:
    axes = plot_uncertainties(of_moments([0, 0, 0], [4.0, 1.0, 9.0]), pandas.Series(x, name="speed"))
    np.testing.assert_allclose(lines(axes)["epistemic"].get_data(), [x, [2, 1, 3]])
    assert (lines(axes)["noise"].get_marker() == "o") is dots
    assert axes.get_xlabel() == "speed"


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match=r"`x` must have shape \(2,\). Got \(3,\)"):
        plot_uncertainties(of_moments([0, 0], 1.0), [1, 2, 3])
    with pytest.raises(ValueError, match="use plot_sequence"):
        plot_uncertainties(of_moments(np.zeros((2, 3, 1)), 1.0))


@pytest.fixture
def explanation() -> Explanation:
    values = np.array([[1.0, -3.0, 0.5]])
    return Explanation(
        ("heat", "time", "load"),
        mean=Attribution(np.array(40.0), values, np.array([38.5])),
        aleatoric_std=Attribution(np.array(1.0), values / 10, np.array([0.85])),
        epistemic_std=Attribution(np.array(0.5), -values / 10, np.array([0.65])),
    )


def test_bars_are_the_values_and_the_title_is_the_prediction(explanation) -> None:
    axes = plot_explanation(explanation)
    names = [label.get_text() for label in axes[0].get_yticklabels()]
    assert names == ["time", "heat", "load"]
    assert axes[0].yaxis_inverted()  # the first is on top
    for panel, values, title in zip(
        axes,
        ([-3, 1, 0.5], [-0.3, 0.1, 0.05], [0.3, -0.1, -0.05]),
        ("Mean 38.5", "Noise 0.85", "Ignorance 0.65"),
        strict=True,
    ):
        np.testing.assert_allclose([bar.get_width() for bar in panel.patches], values)
        assert title in (panel.get_title(), panel.get_title("left"))
    assert axes[1].get_xlabel() == "added to the average, 1"


def test_features_that_add_little_are_one_bar(explanation) -> None:
    axes = plot_explanation(explanation, most=1)
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["time", "2 others"]
    np.testing.assert_allclose([bar.get_width() for bar in axes[0].patches], [-3, 1.5])


def test_wrong_rows_and_axes_are_refused(explanation) -> None:
    with pytest.raises(ValueError, match=r"`row` must be a whole number below 1. Got 1"):
        plot_explanation(explanation, 1)
    with pytest.raises(ValueError, match="`axes` must be 3 matplotlib axes or None"):
        plot_explanation(explanation, axes=[Figure().subplots()])
    two = replace(explanation, mean=Attribution(np.zeros(2), np.zeros((1, 3, 2)), np.zeros((1, 2))))
    with pytest.raises(ValueError, match=r"`target` must be a number from 0 to 1. Got None"):
        plot_explanation(two)
