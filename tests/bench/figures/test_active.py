import numpy as np
import pytest
from matplotlib.figure import Figure

from vebnn.bench.figures.active import plot_active

SIZES = np.array([5, 8, 11])
ERRORS = {
    "epistemic": np.array([[4.0, 2.0, 1.0], [6.0, 2.0, 0.5]]),
    "total": np.array([[4.0, 3.0, 2.0], [6.0, 5.0, 4.0]]),
}
QUESTIONS = {"epistemic": np.array([0.1, 2.0, 9.9, 9.8]), "total": np.array([9.9, 9.6])}


@pytest.fixture(scope="module")
def figure() -> Figure:
    return plot_active(SIZES, ERRORS, QUESTIONS)


def test_curves_are_means_over_seeds(figure: Figure) -> None:
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    np.testing.assert_allclose(lines["epistemic"].get_ydata(), [5, 2, 0.75])
    np.testing.assert_allclose(lines["total"].get_ydata(), [5, 4, 3])
    np.testing.assert_array_equal(lines["total"].get_xdata(), SIZES)
    assert lines["total"].get_color() != lines["epistemic"].get_color()


def test_bands_are_a_standard_error_wide(figure: Figure) -> None:
    # Two seeds: the standard error of their mean is half of their difference.
    tops = [band.get_paths()[0].vertices[:, 1].max() for band in figure.axes[0].collections]
    assert tops == pytest.approx([6.0, 6.0])
    at_the_end = [
        vertices[vertices[:, 0] == 11, 1]
        for vertices in (band.get_paths()[0].vertices for band in figure.axes[0].collections)
    ]
    assert [(low.min(), low.max()) for low in at_the_end] == [
        pytest.approx((2.0, 4.0)),
        pytest.approx((0.5, 1.0)),
    ]


def test_one_seed_has_no_band() -> None:
    alone = {name: values[:1] for name, values in ERRORS.items()}
    assert len(plot_active(SIZES, alone, QUESTIONS).axes[0].collections) == 0


def test_places_are_shares_of_the_questions(figure: Figure) -> None:
    heights = {patch.get_label(): patch.get_xy()[:, 1].max() for patch in figure.axes[1].patches}
    assert heights == {"epistemic": pytest.approx(50), "total": pytest.approx(100)}


def test_the_legend_names_the_methods_in_order(figure: Figure) -> None:
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert texts == ["epistemic", "total"]
