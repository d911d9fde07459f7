import numpy as np
import pytest

from vebnn.bench.simulators.cells import draw_image, image
from vebnn.bench.simulators.cells.generate import draw_images
from vebnn.bench.simulators.cells.plan import Request


def test_uneven_light_is_1_in_the_middle_and_0_in_the_corners() -> None:
    light = image.illumination(5)
    assert light[2, 2] == 1
    assert light[[0, 0, -1, -1], [0, -1, 0, -1]].tolist() == [0, 0, 0, 0]
    assert light[2, 0] == 0.5  # half of the corner's squared distance
    assert light[1, 2] == pytest.approx(1 - 0.25 / 2)


def test_energy() -> None:
    scaled = image.with_energy(image.illumination(16), 3.5)
    assert np.square(scaled, dtype=np.float64).sum() == pytest.approx(3.5, rel=1e-5)
    assert scaled.max() / scaled[0, 4] == pytest.approx(
        image.illumination(16).max() / image.illumination(16)[0, 4]
    )


def test_background_has_the_energies_of_the_description(monkeypatch: pytest.MonkeyPatch) -> None:
    """The light is scaled by the nuclei before they are blurred."""
    seen: list[tuple[float, float]] = []
    scale = image.with_energy

    def watched(light: np.ndarray, energy: float) -> np.ndarray:
        result = scale(light, energy)
        seen.append((energy, float(np.square(result, dtype=np.float64).sum())))
        return result

    ideal: list[np.ndarray] = []
    monkeypatch.setattr(image, "with_energy", watched)
    monkeypatch.setattr(
        image, "scatter", lambda canvas, widths: ideal.append(canvas) or np.zeros_like(canvas)
    )
    draw_image(np.random.default_rng(0), 80, 64)
    energy = np.square(ideal[0], dtype=np.float64).sum()
    assert [wanted for wanted, _ in seen] == pytest.approx([energy, 0.05 * energy], rel=1e-5)
    assert [found for _, found in seen] == pytest.approx([energy, 0.05 * energy], rel=1e-4)


@pytest.mark.parametrize(("canvas", "size"), [(8, 2), (8, 8), (5, 2), (256, 60)])
def test_resizing_averages_the_part_that_a_pixel_covers(canvas: int, size: int) -> None:
    matrix = image.averaging(canvas, size)
    assert matrix.shape == (size, canvas)
    np.testing.assert_allclose(matrix.sum(1), 1, rtol=1e-6)
    np.testing.assert_allclose(matrix.sum(0), size / canvas, rtol=1e-5)
    if (canvas, size) == (5, 2):
        np.testing.assert_allclose(matrix[0], np.array([1, 1, 0.5, 0, 0]) / 2.5, rtol=1e-6)


@pytest.mark.parametrize("size", [1, 50, 64, 256])
def test_form_of_an_image(size: int) -> None:
    drawn = draw_image(np.random.default_rng(0), 40, size)
    assert drawn.shape == (size, size, 1)
    assert drawn.dtype == np.uint8


def test_noise_of_the_camera() -> None:
    """The corners of an image with one nucleus are dark: there the noise is alone, cut at 0."""
    drawn = draw_images([Request((seed,), 1, 256) for seed in range(10)])[:, :8, :8]
    assert np.median(drawn) <= 3
    assert drawn.max() < 255 * 0.08


@pytest.mark.parametrize(("count", "published"), [(100, 78), (198, 113)])
def test_mean_intensity_is_that_of_a_published_figure(count: int, published: float) -> None:
    images = draw_images([Request((seed,), count, 64) for seed in range(12)])
    assert images.mean() == pytest.approx(published, abs=2.5)
