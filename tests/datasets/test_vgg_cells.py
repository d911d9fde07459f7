"""The VGG cell images."""

import os
from pathlib import Path

import numpy as np
import pytest

from vebnn.datasets.vgg_cells import FILE, load_vgg_cells


def test_images_and_counts() -> None:
    if not Path(os.environ.get("VEBNN_DATA", ""), FILE).is_file():
        pytest.skip("VEBNN_DATA has no VGG cell images")
    data = load_vgg_cells()
    assert data.images.shape == (200, 256, 256)
    assert (data.counts.min(), data.counts.max()) == (74, 317)


def test_a_missing_file_is_said_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VEBNN_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"cells-vgg.npz does not exist: save .* `counts`"):
        load_vgg_cells()
    monkeypatch.delenv("VEBNN_DATA")
    with pytest.raises(FileNotFoundError, match="VEBNN_DATA is not set"):
        load_vgg_cells()


@pytest.mark.parametrize(
    "arrays",
    [
        {"images": np.zeros((3, 4, 4), np.uint8)},
        {"images": np.zeros((3, 4, 4), np.uint8), "counts": np.ones(2)},
        {"images": np.zeros((3, 4, 4)), "counts": np.ones(3)},
    ],
)
def test_other_arrays_are_refused(
    arrays: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VEBNN_DATA", str(tmp_path))
    (tmp_path / FILE).parent.mkdir()
    np.savez(tmp_path / FILE, **arrays)
    with pytest.raises(ValueError, match=r"must hold `images` .* `counts`"):
        load_vgg_cells()
