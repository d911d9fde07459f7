"""A network that learns from simulated cells counts those of other images."""

import io
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from vebnn.bench.experiments import cells_transfer
from vebnn.bench.experiments.cells_transfer import bench_cells, intensity_trend, standardise_each
from vebnn.bench.simulators.cells.generate import draw_images
from vebnn.bench.simulators.cells.plan import Request
from vebnn.datasets.vgg_cells import FILE


def test_brightness_and_contrast_of_an_image_are_removed() -> None:
    images = np.random.default_rng(0).integers(0, 120, (3, 8, 8, 1)).astype(np.uint8)
    standardised = standardise_each(images)
    np.testing.assert_allclose(standardised.mean((1, 2, 3)), 0, atol=1e-6)
    np.testing.assert_allclose(standardised.std((1, 2, 3)), 1, rtol=1e-5)
    np.testing.assert_allclose(standardise_each(2 * images + 15), standardised, atol=1e-5)


def test_trend_of_the_brightness() -> None:
    counts = np.array([5, 80, 100, 90])
    images = (3 + 0.5 * counts).reshape(4, 1, 1, 1) * np.ones((1, 2, 2, 1))
    images[0] = 200  # shows fewer cells than are asked for
    found = intensity_trend(images, counts, fewest=74)
    assert found["slope"] == pytest.approx(0.5)
    assert found["rank_correlation"] == pytest.approx(1)


def test_rows_and_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way, with our own images in the file of the others, and a counter of bright pixels."""
    counts = np.array([74, 120, 199, 230])
    images = draw_images([Request((number,), count, 64) for number, count in enumerate(counts)])
    (tmp_path / FILE).parent.mkdir()
    np.savez(tmp_path / FILE, images=images[..., 0], counts=counts)
    monkeypatch.setenv("VEBNN_DATA", str(tmp_path))
    learned: list[tuple[tuple[int, ...], tuple[int, ...], int]] = []

    def learn(images: np.ndarray, counts: np.ndarray, seed: int) -> Callable[[np.ndarray], np.ndarray]:
        learned.append((images.shape, counts.shape, seed))
        return lambda new: (new > 1.5).sum((1, 2, 3))

    monkeypatch.setattr(cells_transfer, "learn_to_count", learn)
    monkeypatch.setattr(cells_transfer, "NUM_HELD_OUT", 5)
    monkeypatch.setattr(cells_transfer, "NUM_OF_COUNT", 3)
    words = io.StringIO()
    path = tmp_path / "rows.jsonl"
    (row,) = bench_cells(30, 1, path, Console(file=words, width=200))
    assert learned == [((30, 32, 32, 1), (30,), 0)]
    assert -1 <= row["rank_correlation"] <= 1
    assert row["rmse_held_out"] > 0
    assert row["vgg_intensity"]["rank_correlation"] == 1
    assert "wanted: 0.8" in words.getvalue()
    for count, published in cells_transfer.PUBLISHED_PIXELS.items():
        assert row["mean_pixels"][str(count)] == pytest.approx(published, rel=0.25)
    assert bench_cells(30, 1, path, Console(file=io.StringIO())) == [row]  # not computed again


@pytest.mark.slow
def test_vgg_images_are_ranked_by_count(tmp_path: Path) -> None:
    if not Path(os.environ.get("VEBNN_DATA", ""), FILE).is_file():
        pytest.skip("VEBNN_DATA has no VGG cell images")
    (row,) = bench_cells(1_000, 1, tmp_path / "rows.jsonl", Console(file=io.StringIO()))
    assert row["rank_correlation"] >= cells_transfer.WANTED
    assert row["rank_correlation_to_200"] >= cells_transfer.WANTED
    # The brightness grows alike in both kinds of images.
    ours, theirs = row["simulated_intensity"], row["vgg_intensity"]
    assert min(ours["rank_correlation"], theirs["rank_correlation"]) > 0.95
    assert 0.5 < ours["slope"] / theirs["slope"] < 2
