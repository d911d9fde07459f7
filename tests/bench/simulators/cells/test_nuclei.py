import numpy as np
import pytest
from matplotlib.path import Path
from scipy import ndimage

from vebnn.bench.simulators.cells.nuclei import (
    RADIUS,
    ROUGHNESS,
    SPLINE,
    VERTICES,
    Nuclei,
    compose,
    draw_nuclei,
    draw_outlines,
    draw_textures,
    fill,
)

REGULAR = 2 * np.pi / VERTICES * np.arange(VERTICES)


def test_spline_passes_through_the_vertices_and_has_no_corner() -> None:
    vertices = np.random.default_rng(0).normal(size=VERTICES)
    pieces = len(SPLINE) // VERTICES
    curve = SPLINE @ vertices
    np.testing.assert_allclose(curve[::pieces], vertices, atol=1e-12)
    # Of ten vertices on a circle it makes a circle.
    circle = SPLINE @ np.stack([np.cos(REGULAR), np.sin(REGULAR)], 1)
    np.testing.assert_allclose(np.hypot(*circle.T), 1, atol=1e-3)
    turns = np.diff(np.unwrap(np.arctan2(*circle.T[::-1])))
    np.testing.assert_allclose(turns, 2 * np.pi / len(SPLINE), rtol=0.02)


def test_no_piece_of_an_outline_can_be_as_high_as_a_pixel() -> None:
    # A coordinate moves by at most the sum of both shifts, since a cosine's slope is at most 1.
    steps = np.roll(SPLINE, -1, 0) - SPLINE
    largest = abs(steps @ np.cos(REGULAR)) + 2 * ROUGHNESS * abs(steps).sum(1)
    assert RADIUS * largest.max() < 1


def test_filled_pixels_are_those_whose_centres_lie_inside() -> None:
    rng = np.random.default_rng(0)
    outlines = draw_outlines(rng, 20) + rng.uniform(-3, 30, (2, 20, 1))
    nuclei = fill(outlines)
    for number in range(20):
        height, width = nuclei.sizes[:, number]
        rows, columns = np.mgrid[:height, :width] + nuclei.corners[:, number, None, None] + 0.5
        centres = np.stack([rows.ravel(), columns.ravel()], 1)
        inside = Path(outlines[:, number].T).contains_points(centres).reshape(height, width)
        np.testing.assert_array_equal(nuclei.masks[number, :height, :width], inside)
        assert nuclei.masks[number].sum() == inside.sum()
        # The box is tight.
        assert inside.any(0)[[0, -1]].all() or inside.any(1)[[0, -1]].all()


def test_area_of_a_nucleus() -> None:
    areas = draw_nuclei(np.random.default_rng(0), 2_000, 256).masks.sum((1, 2))
    # A circle of radius 5 has 78.5 pixels; shifts of the vertices hardly change the mean.
    assert areas.mean() == pytest.approx(np.pi * RADIUS**2, rel=0.02)
    assert 50 < areas.min() < areas.max() < 110


def test_every_nucleus_is_on_the_canvas() -> None:
    """Nuclei that cannot touch can be counted in the image."""
    places = np.arange(7) * 20.0 + 10
    centres = np.stack(np.meshgrid(places, places)).reshape(2, 49, 1)
    rng = np.random.default_rng(0)
    nuclei = fill(centres + draw_outlines(rng, 49))
    canvas = compose(nuclei, draw_textures(rng, nuclei), 140)
    components, count = ndimage.label(canvas > 0)
    assert count == 49
    found = np.array(ndimage.center_of_mass(canvas > 0, components, range(1, 50))) + 0.5
    distances = np.linalg.norm(found[:, None] - centres[:, :, 0].T, axis=2)
    assert sorted(distances.argmin(1)) == list(range(49))
    assert distances.min(1).max() < 1.5


@pytest.mark.parametrize("count", [1, 2, 200])
def test_count_is_exact(count: int) -> None:
    nuclei = draw_nuclei(np.random.default_rng(count), count, 256)
    assert len(nuclei.masks) == count
    assert nuclei.masks.any((1, 2)).all()
    middles = nuclei.corners + nuclei.sizes / 2
    assert middles.min() > -2
    assert middles.max() < 258


def test_overlapping_nuclei_are_averaged_and_edges_cut_them() -> None:
    masks = np.ones((3, 2, 2), bool)
    masks[2, 0, 0] = False
    nuclei = Nuclei(np.array([[0, 1, 3], [0, 1, -1]]), np.full((2, 3), 2), masks)
    textures = np.stack([np.full((2, 2), value, np.float32) for value in (0.2, 0.6, 1.0)])
    expected = [[0.2, 0.2, 0, 0], [0.2, 0.4, 0.6, 0], [0, 0.6, 0.6, 0], [1, 0, 0, 0]]
    np.testing.assert_allclose(compose(nuclei, textures, 4), expected, rtol=1e-6)


def test_brightness_of_a_nucleus() -> None:
    rng = np.random.default_rng(0)
    nuclei = draw_nuclei(rng, 30, 256)
    textures = draw_textures(rng, nuclei)
    for texture, (height, width) in zip(textures, nuclei.sizes.T, strict=True):
        own = texture[:height, :width]
        assert own.min() == pytest.approx(0.2)
        assert own.max() == pytest.approx(1.0)
