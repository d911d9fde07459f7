import numpy as np
import pytest

from vebnn.bench.simulators.cells.blur import draw_widths, scatter


def scatter_pixel_by_pixel(image: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return what the definition says: each pixel adds its own window to the result."""
    distances = np.arange(-4, 5)
    squares = distances[:, None] ** 2 + distances**2
    result = np.zeros([length + 8 for length in image.shape])
    for row, column in np.ndindex(image.shape):
        window = np.exp(-squares / (2 * widths[row, column] ** 2))
        result[row : row + 9, column : column + 9] += image[row, column] * window / window.sum()
    return result[4:-4, 4:-4]


def test_shortcut_is_exact() -> None:
    rng = np.random.default_rng(0)
    image = rng.random((14, 17)).astype(np.float32)
    widths = rng.uniform(0.5, 5, image.shape).astype(np.float32)
    np.testing.assert_allclose(scatter(image, widths), scatter_pixel_by_pixel(image, widths), atol=1e-6)


@pytest.mark.parametrize("width", [0.5, 1.7, 5.0])
def test_light_of_a_pixel_is_spread_over_81_and_kept(width: float) -> None:
    image = np.zeros((21, 21), np.float32)
    image[10, 10] = 0.8
    result = scatter(image, np.full_like(image, width))
    assert result.sum() == pytest.approx(0.8, rel=1e-6)
    assert np.count_nonzero(result) == 81
    assert result[10, 12] / result[10, 10] == pytest.approx(np.exp(-2 / width**2), rel=1e-5)
    np.testing.assert_allclose(result, result.T, rtol=1e-6)


def test_light_beyond_the_edge_is_lost_and_does_not_come_back_elsewhere() -> None:
    image = np.zeros((12, 12), np.float32)
    image[0, 11] = 1
    result = scatter(image, np.full_like(image, 5.0))
    assert np.count_nonzero(result) == 25
    assert np.count_nonzero(result[:5, 7:]) == 25


def test_width_of_a_component_and_of_the_background() -> None:
    canvas = np.zeros((20, 20), np.float32)
    canvas[2:5, 2:5] = 0.5
    canvas[5:7, 5:7] = 0.3  # touches the first at a corner: they have one depth
    canvas[10:14, 3:6] = 1.0
    canvas[15:19, 15:19] = 0.2
    widths = draw_widths(np.random.default_rng(0), canvas)
    depths = np.abs(np.random.default_rng(0).normal(size=3))
    expected = 0.5 + 4.5 * depths / depths.max()
    assert set(widths[canvas == 0]) == {0.5}
    for number, place in enumerate([(2, 2), (10, 3), (15, 15)]):
        assert widths[place] == pytest.approx(expected[number])
    assert len(np.unique(widths[2:7, 2:7][canvas[2:7, 2:7] > 0])) == 1
    assert widths.max() == 5.0
