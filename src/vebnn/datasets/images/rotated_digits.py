"""Rotated digits: real pictures whose mean and noise are both known.

A handwritten digit is turned by a known angle. The target is that angle plus Gaussian noise, in
degrees, whose standard deviation depends on the class of the digit: 12° for a 0, 2° for a 9, evenly
spaced between. Positive angles turn counterclockwise.

A writer's slant looks like a rotation. Every digit is therefore sheared upright first, until its
second moment xy vanishes. Its principal axes are then horizontal and vertical. Digits that are not
clearly taller than wide are left out, most of them zeros and fours: nobody can read the angle of a
round digit, so that its mean would not be known from the picture. The angle of all others can be read
within ±90°: it is that of the longer axis.

Two classes, 4 and 7, are in no training picture. The test set has known classes turned as in
training, known classes turned further (``shifted``), and the two unseen classes turned as in training
(``shifted``).
"""

from pathlib import Path

import numpy as np
from scipy import ndimage

from vebnn.core.arguments import require_whole
from vebnn.datasets.images.npz import read_npz
from vebnn.datasets.images.types import ImageDataset, Images

FILE = "mnist-digits.npz"
KEYS = ("train_images", "train_labels", "test_images", "test_labels")
SIDE = 32  # pixels; the corners of a turned digit need more than 28
LARGEST_ANGLE = 30.0  # of training
LARGEST_TEST_ANGLE = 90.0
UNSEEN = (4, 7)  # classes
# Least vertical over horizontal variance of light. With all digits, even a network that is trained
# without noise errs by more than the smallest noise.
TALL = 1.5
NUM_VALIDATION = 1_500


def noise_std(digits: np.ndarray) -> np.ndarray:
    """Return the standard deviation of the noise of each class, in degrees."""
    return 12 - 10 * np.asarray(digits, float) / 9


def rotated_digits(
    path: str | Path,
    num_train: int | None = None,
    num_validation: int = NUM_VALIDATION,
    num_test: int | None = None,
    seed: int = 0,
) -> ImageDataset:
    """Return the set, made from a file of handwritten digits.

    Args:
      path: an ``.npz`` file with ``{train,test}_images`` (n, 28, 28) and ``{train,test}_labels``.
      num_train: training pictures; by default all that are left by validation.
      num_validation: validation pictures.
      num_test: digits for the test set; a known one is turned twice, an unseen one once. By default
        all that are taller than wide.
      seed: of the order of the digits, the angles and the noise.

    Raises:
      ValueError: if the file has fewer digits.
    """
    require_whole("num_validation", num_validation, 1)
    rng = np.random.default_rng(seed)
    images, labels, test_images, test_labels = read_npz(Path(path), KEYS, "save MNIST's digits again")
    readable, test_readable = is_tall(images), is_tall(test_images)
    images, labels = images[readable], labels[readable]
    test_images, test_labels = test_images[test_readable], test_labels[test_readable]
    known = rng.permutation(np.flatnonzero(~np.isin(labels, UNSEEN)))
    num_train = _at_most("num_train", num_train, len(known) - num_validation)
    num_test = _at_most("num_test", num_test, len(test_labels))
    train, validation = known[:num_train], known[num_train : num_train + num_validation]
    drawn = rng.permutation(len(test_labels))[:num_test]
    unseen = np.isin(test_labels[drawn], UNSEEN)
    groups = drawn[~unseen], drawn[~unseen], drawn[unseen]
    test = np.concatenate(groups)
    further = np.repeat([False, True, False], [len(group) for group in groups])
    shifted = further | np.isin(test_labels[test], UNSEEN)

    def observe(images: np.ndarray, labels: np.ndarray, further: np.ndarray) -> Images:
        angles = _angles(further, rng)
        std = noise_std(labels)
        y = angles + std * rng.standard_normal(len(angles))
        return Images(rotate(images, angles), y, angles, std)

    return ImageDataset(
        "rotated-digits",
        observe(images[train], labels[train], np.zeros(num_train, bool)),
        observe(images[validation], labels[validation], np.zeros(num_validation, bool)),
        observe(test_images[test], test_labels[test], further)._replace(shifted=shifted),
    )


def _at_most(name: str, number: int | None, available: int) -> int:
    if number is None:
        number = available
    require_whole(name, number, 1)
    if number > available:
        raise ValueError(
            f"The `{name}` must be at most {available}, all digits of the file that are taller than "
            f"wide. Got {number}."
        )
    return number


def _angles(further: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    near = rng.uniform(-LARGEST_ANGLE, LARGEST_ANGLE, len(further))
    far = rng.uniform(LARGEST_ANGLE, LARGEST_TEST_ANGLE, len(further))
    return np.where(further, far * np.sign(near), near)


def is_tall(images: np.ndarray) -> np.ndarray:
    """Return which pictures (n, height, width), sheared upright, are clearly taller than wide."""
    vertical, horizontal = np.transpose([_upright(image)[2] for image in images])
    return (vertical > 0) & (vertical >= TALL * horizontal)


def rotate(images: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Shear digits upright and turn each by its angle in degrees, with one interpolation for both.

    Args:
      images: (n, height, width) bytes, light on dark.
      angles: (n,), counterclockwise.

    Returns:
      (n, 32, 32, 1) bytes, with the centre of mass in the middle.
    """
    turned = np.zeros((len(images), SIDE, SIDE, 1), np.uint8)
    middle = np.full(2, (SIDE - 1) / 2)
    for image, angle, result in zip(images, np.radians(angles), turned, strict=True):
        centre, slant, _ = _upright(image)
        cos, sin = np.cos(angle), np.sin(angle)
        # Rows grow downwards, so that counterclockwise is from columns to minus rows.
        back = np.array([[cos, sin], [-sin, cos]])
        # To a place (row, column) of the upright digit belongs the column that the slant had shifted.
        to_source = np.array([[1, 0], [slant, 1]]) @ back
        offset = centre - to_source @ middle
        pixels = ndimage.affine_transform(image.astype(float), to_source, offset, (SIDE, SIDE), order=1)
        result[..., 0] = np.rint(pixels)
    return turned


def _upright(image: np.ndarray) -> tuple[np.ndarray, float, tuple[float, float]]:
    """Return the centre, the slant in columns a row, and the variances along the axes without it."""
    centre, ((row_row, row_column), (_, column_column)) = moments(image)
    slant = row_column / row_row if row_row else 0.0
    return centre, slant, (row_row, column_column - slant * row_column)


def moments(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the centre of mass (row, column) of a picture, and the covariance of its light."""
    weights = image / max(image.sum(dtype=float), 1)
    places = np.indices(image.shape)
    centre = (weights * places).sum(axis=(1, 2))
    apart = places - centre[:, None, None]
    return centre, np.einsum("hw,ihw,jhw->ij", weights, apart, apart)
