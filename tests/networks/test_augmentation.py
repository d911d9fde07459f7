"""Augmentation: what it does to an image, that training sees it and that predictions do not."""

from dataclasses import replace

import equinox as eqx
import jax
import numpy as np
import pytest

from vebnn import ResNet
from vebnn.inference.evaluation import Shared, evaluate_draws
from vebnn.inference.mc_dropout import OneMask
from vebnn.likelihoods.log_likelihoods import apply_to_rows
from vebnn.networks import Augmentation, Network, build_networks

KEYS = jax.random.split(jax.random.key(0), 400)
SHIFTED = Augmentation(flip=True, shift=2)


def changed(augmentation: Augmentation, image: np.ndarray) -> np.ndarray:
    return np.asarray(jax.vmap(lambda key: augmentation(image, key))(KEYS))


def test_half_of_the_images_are_flipped(rng) -> None:
    image = rng.integers(0, 256, (5, 6, 2)).astype(np.uint8)
    found = changed(Augmentation(flip=True), image)
    assert found.dtype == np.uint8
    flipped = (found == image[:, ::-1]).all((1, 2, 3))
    assert (flipped | (found == image).all((1, 2, 3))).all()
    assert abs(flipped.mean() - 0.5) < 4 * np.sqrt(0.25 / len(KEYS))


def test_shifts_are_equally_likely_and_repeat_the_border() -> None:
    rows, columns = np.meshgrid(np.arange(7), np.arange(8), indexing="ij")
    image = np.stack([rows, columns], -1).astype(np.uint8)
    found = changed(Augmentation(shift=2), image).astype(int)
    moved = found[:, 3, 3] - 3  # where the middle pixel came from
    assert moved.min() == -2
    assert moved.max() == 2
    for one, (down, right) in zip(found[:20], moved[:20], strict=True):
        wanted = image[np.clip(np.arange(7) + down, 0, 6)][:, np.clip(np.arange(8) + right, 0, 7)]
        np.testing.assert_array_equal(one, wanted)
    counts = np.unique(moved, axis=0, return_counts=True)[1]
    assert len(counts) == 25
    assert ((counts - 16) ** 2 / 16).sum() < 51.2  # χ² with 24 degrees of freedom, p = 0.001


def same_weights(recipe: ResNet) -> list[Network]:
    """Return a network without and one with augmentation."""
    recipes = recipe, replace(recipe, augmentation=SHIFTED)
    stacked = [build_networks(one, (4, 4, 1), 1, KEYS[:1]) for one in recipes]
    return [jax.tree.map(lambda leaf: leaf[0], one) for one in stacked]


def test_an_image_is_augmented_in_training_and_as_it_is_without_a_key(rng) -> None:
    images, key = rng.integers(0, 256, (30, 4, 4, 1)).astype(np.uint8), jax.random.key(1)
    plain, augmented = same_weights(ResNet(4, 2, head=()))
    as_it_is, without_a_key, in_training = (
        eqx.filter_jit(apply_to_rows)(network, images, given)
        for network, given in ((plain, None), (augmented, None), (augmented, key))
    )
    np.testing.assert_array_equal(without_a_key, as_it_is)
    assert np.mean(np.abs(in_training - as_it_is) > 1e-6) > 0.8
    seen = augmented.augment(images[0], key)
    np.testing.assert_array_equal(seen, SHIFTED(images[0], key))


def test_masks_of_dropout_predict_images_as_they_are(rng) -> None:
    images = rng.integers(0, 256, (6, 4, 4, 1)).astype(np.uint8)
    key_data = jax.random.key_data(jax.random.split(jax.random.key(3), 2))
    plain, augmented = (
        evaluate_draws(OneMask(Shared(network), key_data), images)
        for network in same_weights(ResNet(4, 2, head=(2,), dropout_rate=0.3))
    )
    np.testing.assert_array_equal(augmented, plain)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match=r"The `shift` must be a whole number of at least 0\. Got -1"):
        Augmentation(shift=-1)
    with pytest.raises(ValueError, match=r"The `flip` must be one of False, True\. Got 'yes'"):
        Augmentation(flip="yes")
    with pytest.raises(ValueError, match=r"must be an Augmentation\(...\) or None. Got 'flip'"):
        ResNet(18, augmentation="flip")
