"""Predicted against observed, and observed against nominal coverage: heights of what is drawn."""

from dataclasses import replace

import numpy as np
import pandas
import pytest
from matplotlib.figure import Figure
from scipy import stats

from tests.support.predictions import of_moments
from vebnn.plots import plot_parity, plot_reliability

REACH = 1.959964


def drawn(axes, label: str):
    (found,) = [one for one in (*axes.collections, *axes.lines) if one.get_label() == label]
    return found


def test_parity_has_a_dot_and_two_bars_per_row() -> None:
    y = pandas.Series([3.0, 1.0, np.nan, 2.0], name="strength")
    axes = plot_parity(of_moments([2.5, 1.5, 9.0, 2.0], [0.09, 0.0, 1.0, 0.16], 0.16), y)
    assert axes.get_xlabel() == "observed strength"
    assert axes.get_ylabel() == "predicted strength"
    dots = np.asarray(drawn(axes, "rows").get_offsets())
    np.testing.assert_allclose(dots, [[1.0, 1.5], [2.0, 2.0], [3.0, 2.5]])
    for label, std in (
        ("mean, 95 %", np.sqrt([0.0, 0.16, 0.09])),
        ("new observation, 95 %", np.sqrt([0.16, 0.32, 0.25])),
    ):
        bars = np.asarray(drawn(axes, label).get_segments())
        np.testing.assert_allclose(bars[:, 0, 1], dots[:, 1] - REACH * std, rtol=1e-6)
        np.testing.assert_allclose(bars[:, 1, 1], dots[:, 1] + REACH * std, rtol=1e-6)


def test_parity_draws_no_more_dots_than_asked_for(rng) -> None:
    y = rng.normal(size=1_000)
    dots = np.asarray(drawn(plot_parity(of_moments(y, 1.0), y, most=50), "rows").get_offsets())
    assert len(dots) == 50
    assert (dots[0, 0], dots[-1, 0]) == (y.min(), y.max())


def test_parity_of_conformal_intervals_has_their_length() -> None:
    prediction = replace(of_moments([0.0, 1.0], 0.0, 4.0), interval_reach=lambda level: np.array(3.0))
    bars = np.asarray(drawn(plot_parity(prediction, [0, 1]), "new observation, 95 %").get_segments())
    np.testing.assert_allclose(bars[:, 1, 1] - bars[:, 0, 1], 12.0)


def test_reliability_is_the_share_inside_with_the_range_of_chance() -> None:
    """Standard normal scores at known places: 5 of 10 within half a std, all within two."""
    y = np.repeat([0.5, -1.9], 5)
    axes = plot_reliability(of_moments(np.zeros(10), 0.36, 0.64), y, levels=(0.2, 0.5, 0.9, 0.96))
    line = drawn(axes, "10 observations")
    np.testing.assert_allclose(line.get_ydata(), [0.0, 0.5, 0.5, 1.0])
    range_ = drawn(axes, "chance, 95 %").get_paths()[0].vertices
    at_half = range_[range_[:, 0] == 0.5, 1]
    ends = stats.binom.interval(0.95, 10, 0.5)
    np.testing.assert_allclose([at_half.min(), at_half.max()], np.array(ends) / 10)


def test_several_targets_are_chosen_by_name_or_number(rng) -> None:
    y = pandas.DataFrame(rng.normal(size=(20, 2)), columns=["strength", "elongation"])
    prediction = replace(of_moments(np.zeros((20, 2)), 1.0), target_names=("strength", "elongation"))
    by_name, by_number = (plot_parity(prediction, y, target=one) for one in ("elongation", 1))
    assert by_name.get_xlabel() == by_number.get_xlabel() == "observed elongation"
    seen = np.asarray(drawn(by_name, "rows").get_offsets())[:, 0]
    np.testing.assert_array_equal(seen, np.sort(y["elongation"]))
    with pytest.raises(ValueError, match=r"'strength' or 'elongation' or a number .* Got None"):
        plot_reliability(prediction, y)
    with pytest.raises(ValueError, match="Got 'hardness'"):
        plot_parity(prediction, y, target="hardness")


def test_axes_of_the_user_are_drawn_on_and_returned() -> None:
    ax = Figure().subplots()
    assert plot_parity(of_moments([1.0], 1.0), [1.0], ax=ax) is ax
    with pytest.raises(ValueError, match=r"`ax` must be matplotlib axes or None. Got 3"):
        plot_parity(of_moments([1.0], 1.0), [1.0], ax=3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot_parity([1.0], [1.0]), "Got list; use model.predict_distribution"),
        (lambda: plot_parity(of_moments([1.0], 1.0), [1.0, 2.0]), r"shape of the prediction, \(1,\)"),
        (lambda: plot_parity(of_moments([1.0], 1.0), [np.nan]), "at least one observation"),
        (lambda: plot_parity(of_moments([1.0], 1.0), [1.0], most=0), "`most` must be a whole number"),
        (lambda: plot_reliability(of_moments([1.0], 1.0), [np.nan]), "at least one observation"),
        (lambda: plot_reliability(of_moments([1.0], 1.0), [1.0], levels=(0.5, 1)), "`levels` must be"),
    ],
)
def test_wrong_arguments_are_refused(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()
