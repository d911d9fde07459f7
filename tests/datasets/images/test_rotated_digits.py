"""Rotated digits: the angle can be read from the picture, and the noise is what it is said to be."""

import os
from pathlib import Path

import numpy as np
import pytest

from vebnn.datasets.images import load_images, rotated_digits
from vebnn.datasets.images.rotated_digits import UNSEEN, is_tall, moments, noise_std, rotate


def bar(slant: float = 0.0) -> np.ndarray:
    """A smooth upright bar, sheared by so many columns a row."""
    rows, columns = np.indices((28, 28)) - 13.5
    light = np.exp(-((columns - slant * rows) ** 2) / 4 - rows**2 / 60)
    return np.rint(255 * light).astype(np.uint8)


def axis_angle(image: np.ndarray) -> float:
    """Return the angle in ±90° of the longer principal axis with the vertical, counterclockwise."""
    (row, both), (_, column) = moments(image)[1]
    return np.degrees(np.arctan2(2 * both, row - column)) / 2


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of the same format: bars of ten classes."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("images") / "mnist-digits.npz"
    pictures = np.stack([bar(slant) for slant in np.linspace(-0.4, 0.4, 400)])
    labels = rng.integers(0, 10, 400).astype(np.uint8)
    np.savez(
        path,
        train_images=pictures[:300],
        train_labels=labels[:300],
        test_images=pictures[300:],
        test_labels=labels[300:],
    )
    return path


@pytest.mark.parametrize("slant", [-0.4, 0.0, 0.3])
@pytest.mark.parametrize("angle", [-85.0, -40.0, -10.0, 0.0, 25.0, 60.0])
def test_the_angle_is_that_of_the_axis_whatever_the_slant(slant: float, angle: float) -> None:
    (image,) = rotate(bar(slant)[None], np.array([angle]))
    assert image.shape == (32, 32, 1)
    np.testing.assert_allclose(axis_angle(image[..., 0]), angle, atol=0.3)
    np.testing.assert_allclose(moments(image[..., 0])[0], 15.5, atol=0.05)


def ellipse(vertical: float, horizontal: float, slant: float = 0.0) -> np.ndarray:
    """A bell of light with these variances, sheared by so many columns a row."""
    rows, columns = np.indices((61, 61)) - 30
    light = np.exp(-(rows**2) / (2 * vertical) - (columns - slant * rows) ** 2 / (2 * horizontal))
    return np.rint(255 * light).astype(np.uint8)


def test_only_digits_that_are_taller_than_wide_are_kept() -> None:
    pictures = [
        *(ellipse(24, 15), ellipse(24, 17), ellipse(20, 20), ellipse(15, 24)),
        *(ellipse(24, 15, 0.5), ellipse(24, 17, 0.5)),  # a slant does not count
        np.zeros((61, 61), np.uint8),
    ]
    assert is_tall(np.stack(pictures)).tolist() == [True, False, False, False, True, False, False]


def test_positive_angles_turn_counterclockwise() -> None:
    (image,) = rotate(bar()[None], np.array([45.0]))
    top_left, top_right = image[6:12, 6:12].sum(), image[6:12, 20:26].sum()
    assert top_left > 100 * top_right


def test_a_quarter_turn_is_that_of_numpy() -> None:
    rng = np.random.default_rng(0)
    image = np.zeros((28, 28), np.uint8)
    image[8:20, 8:20] = rng.integers(0, 2, (12, 12)) * 200
    upright, turned = rotate(np.stack([image, image]), np.array([0.0, 90.0]))
    difference = turned[..., 0].astype(float) - np.rot90(upright[..., 0])
    assert np.abs(difference).max() <= 1


def test_an_empty_picture_stays_empty() -> None:
    assert not rotate(np.zeros((1, 28, 28), np.uint8), np.array([30.0])).any()


def test_mean_and_noise_are_known(digits: Path) -> None:
    data = rotated_digits(digits, num_validation=40)
    for part in (data.train, data.validation, data.test):
        assert part.x.dtype == np.uint8
        assert part.x.shape == (len(part.y), 32, 32, 1)
        assert part.mean is not None
        assert part.noise_std is not None
        assert part.y.dtype == part.mean.dtype == part.noise_std.dtype == np.float64
        standard = (part.y - part.mean) / part.noise_std
        assert abs(standard.std() - 1) < 4 / np.sqrt(2 * len(part.y))
        read = [axis_angle(one) for one in part.x[..., 0]]
        wrong = (np.array(read) - part.mean + 90) % 180 - 90  # 90° and −90° are the same axis
        assert np.abs(wrong).max() < 0.5


def test_noise_falls_with_the_class() -> None:
    np.testing.assert_allclose(noise_std(np.arange(10)), np.linspace(12, 2, 10))


def test_shifted_pictures_are_turned_further_or_unseen(digits: Path) -> None:
    data = rotated_digits(digits, num_validation=40)
    unseen = noise_std(np.array(UNSEEN))
    for part in (data.train, data.validation):
        assert part.shifted is None
        assert part.mean is not None
        assert np.abs(part.mean).max() <= 30
        assert not np.isin(part.noise_std, unseen).any()
    test = data.test
    assert test.mean is not None
    further, other = np.abs(test.mean) > 30, np.isin(test.noise_std, unseen)
    np.testing.assert_array_equal(test.shifted, further | other)
    assert not (further & other).any()
    assert np.abs(test.mean).max() <= 90
    assert (test.mean[further] < 0).any()
    assert (test.mean[further] > 0).any()
    assert further.sum() == (~test.shifted).sum() > 0
    assert other.sum() > 0


def test_sizes_and_seeds(digits: Path) -> None:
    one, again, other = (
        rotated_digits(digits, num_train=30, num_validation=10, num_test=20, seed=seed)
        for seed in (1, 1, 2)
    )
    assert len(one.train.y) == 30
    assert len(one.validation.y) == 10
    assert 20 <= len(one.test.y) <= 40
    np.testing.assert_array_equal(one.train.x, again.train.x)
    np.testing.assert_array_equal(one.test.y, again.test.y)
    assert not np.array_equal(one.train.y, other.train.y)


def test_more_digits_than_there_are(digits: Path) -> None:
    with pytest.raises(ValueError, match=r"The `num_train` must be at most .* Got 1000"):
        rotated_digits(digits, num_train=1000, num_validation=40)
    with pytest.raises(ValueError, match="The `num_test` must be at most 100"):
        rotated_digits(digits, num_validation=40, num_test=101)


def test_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "mnist-digits.npz"
    path.write_bytes(b"PK nothing")
    with pytest.raises(
        ValueError, match=r"mnist-digits.npz must be an .npz file with the arrays train"
    ):
        rotated_digits(path)
    np.savez(path, train_images=np.zeros((2, 28, 28), np.uint8))
    with pytest.raises(ValueError, match="test_labels: save MNIST's digits again"):
        rotated_digits(path)


def test_the_real_digits() -> None:
    folder = Path(os.environ.get("VEBNN_DATA", ""), "images")
    if not (folder / "mnist-digits.npz").is_file():
        pytest.skip("VEBNN_DATA has no digits")
    data = load_images("rotated-digits")
    assert len(data.train.y) == 6404
    assert len(data.validation.y) == 1500
    assert len(data.test.y) == 3013
    assert data.train.mean is not None
    read = np.array([axis_angle(one) for one in data.train.x[:500, ..., 0]])
    wrong = np.abs(read - data.train.mean[:500])
    # The picture tells the angle: far more exactly than the least noise of 2°.
    assert np.median(wrong) < 0.2
    assert np.quantile(wrong, 0.9) < 1


def test_a_missing_file_is_said_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FileNotFoundError, match=r"does not hold them: save there mnist-digits.npz"):
        load_images("rotated-digits", tmp_path)
    monkeypatch.delenv("VEBNN_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="because VEBNN_DATA is not set"):
        load_images("rotated-digits")
