import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from vebnn.bench.simulators.cells.octaves import octave_textures, resizing


@pytest.mark.parametrize("octave", [1, 2, 4, 6])
@pytest.mark.parametrize("size", [1, 11, 12, 256])
def test_constants_stay_as_they_are(octave: int, size: int) -> None:
    np.testing.assert_allclose(resizing(octave, size) @ np.full(2**octave, 3.0), 3.0, rtol=1e-6)


def test_resizing_is_bicubic_interpolation_of_the_mean_of_nine() -> None:
    noise = np.random.default_rng(0).random((16, 16)).astype(np.float32)
    smooth = ndimage.uniform_filter(noise, 3, mode="nearest")
    expected = np.asarray(Image.fromarray(smooth).resize((48, 64), Image.Resampling.BICUBIC))
    found = resizing(4, 64) @ noise @ resizing(4, 48).T
    # Pillow treats the outermost values in another way.
    np.testing.assert_allclose(found[8:-8, 6:-6], expected[8:-8, 6:-6], atol=1e-5)


def test_every_texture_fills_its_own_size_from_0_to_1() -> None:
    heights, widths = np.array([11, 9, 12]), np.array([10, 12, 11])
    textures = octave_textures(np.random.default_rng(0), (2, 3), heights, widths)
    assert textures.shape == (3, 12, 12)
    for texture, height, width in zip(textures, heights, widths, strict=True):
        own = texture[:height, :width]
        assert (own.min(), own.max()) == (0, 1)
        assert texture.sum() == pytest.approx(own.sum())


def test_texture_is_the_weighted_sum_of_octaves() -> None:
    size = np.array([12])
    found = octave_textures(np.random.default_rng(3), (2, 3), size, size)[0]
    rng = np.random.default_rng(3)
    total = np.zeros((12, 12))
    for octave, weight in ((2, 0.25), (3, 0.125)):
        noise = rng.random((2**octave, 2**octave), dtype=np.float32)
        total += weight * (resizing(octave, 12) @ noise @ resizing(octave, 12).T)
    total -= total.min()
    np.testing.assert_allclose(found, total / total.max(), atol=1e-5)
