"""The pictures of the page on the two uncertainties, drawn from predictions that we choose."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from tests.support.predictions import of_moments
from uncertainties import GRID, IMAGES, PLACES, Case, plot_cases, repeated
from vebnn.datasets.toy import load_toy, true_noise_std

LARGEST_PICTURE = 150_000  # bytes


@pytest.fixture(scope="module")
def figure() -> Figure:
    cases = [
        Case(f"{size}", load_toy(size), of_moments(np.sin(GRID), epistemic=4.0 / size, aleatoric=2.25))
        for size in (4, 16)
    ]
    return plot_cases(cases)


def test_bands_hold_95_percent(figure: Figure) -> None:
    for panel, ignorance in ((figure.axes[0], 1.0), (figure.axes[1], 0.5)):
        for band, std in zip(panel.collections[:2], (1.5, ignorance), strict=True):
            corners = band.get_paths()[0].vertices
            heights = corners[corners[:, 0] == GRID[0], 1]
            assert heights.max() - heights.min() == pytest.approx(2 * 1.959964 * std, rel=1e-5)


def test_lower_panels_show_both_stds_and_the_truth(figure: Figure) -> None:
    for panel, ignorance in ((figure.axes[2], 1.0), (figure.axes[3], 0.5)):
        lines = {line.get_label(): line.get_ydata() for line in panel.lines}
        np.testing.assert_allclose(lines["noise"], 1.5)
        np.testing.assert_allclose(lines["epistemic"], ignorance)
        np.testing.assert_allclose(lines["true noise"], true_noise_std(GRID))


def test_same_places_again_and_again() -> None:
    data = repeated(1_000)
    assert data.X.shape == (5_000, 1)
    groups = data.y.reshape(len(PLACES), 1_000)
    # The standard error of a std from 1,000 values is 2.2 % of it.
    np.testing.assert_allclose(groups.std(1), 0.3 * np.sqrt(1 + PLACES**2), rtol=0.09)


@pytest.mark.parametrize("name", ["more-data.png", "same-places.png"])
def test_pictures_are_there_and_small(name: str) -> None:
    assert 10_000 < (IMAGES / name).stat().st_size < LARGEST_PICTURE
