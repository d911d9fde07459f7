"""Blur out of focus: every pixel scatters its light with the width of its own depth."""

import numpy as np
from scipy import ndimage

SHARPEST, BLURRIEST = 0.5, 5.0  # std of the Gaussian at depth 0 and at the largest depth, pixels
DEPTH_STD = 0.5
REACH = 4  # pixels: the window is 9×9


def draw_widths(rng: np.random.Generator, canvas: np.ndarray) -> np.ndarray:
    """Return the std of every pixel's Gaussian.

    Nuclei that touch, also at a corner, have one depth, the absolute value of a normal number; the
    background has depth 0. The depths of an image are stretched to the interval of widths, so that its
    deepest nuclei always have the largest width.
    """
    components, count = ndimage.label(canvas > 0, structure=np.ones((3, 3)))
    depths = np.concatenate([[0.0], np.abs(rng.normal(0, DEPTH_STD, count))])
    widths = SHARPEST + (BLURRIEST - SHARPEST) * depths / depths.max(initial=1e-12)
    return widths.astype(np.float32)[components]


def scatter(image: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Spread every pixel's value by its own Gaussian, cut to a 9×9 window and normalised there.

    The window and its normalisation are products of one factor per axis. So the values are multiplied
    by the factor of each vertical distance, spread along rows, and the sums moved up and down: 54
    additions of images instead of 81, exactly. What leaves the image is lost.
    """
    # A margin of zeros takes what leaves the image; with it, every move is a shift of one long vector.
    padded = np.pad(image, REACH)
    factors = window_factors(np.pad(widths, REACH, constant_values=1).ravel())
    result, along_rows, weighted, moved = np.zeros((4, padded.size), np.float32)
    for down in range(REACH + 1):
        np.multiply(padded.ravel(), factors[down], out=weighted)
        along_rows[:] = 0
        for right in range(REACH + 1):
            np.multiply(weighted, factors[right], out=moved)
            _add_both_ways(along_rows, moved, right)
        _add_both_ways(result, along_rows, down * padded.shape[1])
    return result.reshape(padded.shape)[REACH:-REACH, REACH:-REACH]


def window_factors(widths: np.ndarray) -> np.ndarray:
    """Return the share of light that a pixel of each width sends 0, 1, … 4 pixels along one axis."""
    squares = np.arange(REACH + 1, dtype=np.float32) ** 2
    factors = np.exp(-squares[:, None] / (2 * widths**2))
    return factors / (factors[0] + 2 * factors[1:].sum(0))


def _add_both_ways(total: np.ndarray, values: np.ndarray, places: int) -> None:
    """Add the values to the total, moved by so many places to either side; once if they stay."""
    if places == 0:
        total += values
        return
    total[places:] += values[:-places]
    total[:-places] += values[places:]
