from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from vebnn.estimators import Spread
from vebnn.plots import plot_relevance

NAMES = ("idle", "slope", "wave")
SCALE = Spread(np.array([0.1, 0.5, 3.0]), np.array([0.03, 0.3, 2.0]), np.array([0.3, 1.0, 4.0]))
EFFECT = Spread(np.array([0.02, 0.7, 0.5]), np.array([0.01, 0.65, 0.4]), np.array([0.05, 0.75, 0.6]))


@pytest.fixture
def model() -> SimpleNamespace:
    order = np.array([1, 2, 0])
    return SimpleNamespace(
        relevance_=SimpleNamespace(names=NAMES, scale=SCALE, effect=EFFECT, order=order)
    )


def drawn(figure: Figure) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return of each panel the dots, (inputs, 2), and the intervals, (inputs, ends, 2)."""
    panels = []
    for axes in figure.axes:
        intervals, dots = axes.collections
        panels.append((np.asarray(dots.get_offsets()), np.asarray(intervals.get_segments())))
    return panels


def test_inputs_are_sorted_by_effect_with_their_intervals(model: SimpleNamespace) -> None:
    figure = plot_relevance(model)
    left, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["slope", "wave", "idle"]
    assert left.yaxis_inverted()  # the first is on top
    assert (left.get_xscale(), right.get_xscale()) == ("log", "linear")
    for (dots, intervals), spread in zip(drawn(figure), (SCALE, EFFECT), strict=True):
        np.testing.assert_allclose(dots[:, 0], spread.mean[[1, 2, 0]])
        np.testing.assert_allclose(intervals[:, 0, 0], spread.lower[[1, 2, 0]])
        np.testing.assert_allclose(intervals[:, 1, 0], spread.upper[[1, 2, 0]])


def test_only_the_largest_effects_are_drawn(model: SimpleNamespace) -> None:
    dots, _ = drawn(plot_relevance(model, most=2))[0]
    np.testing.assert_allclose(dots, [[0.5, 0], [3.0, 1]])


def test_a_model_without_learned_scales_is_refused() -> None:
    with pytest.raises(ValueError, match=r'prior="learned"'):
        plot_relevance(SimpleNamespace(relevance_=None))
