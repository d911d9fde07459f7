"""Residual networks: their size, their parts by hand, and what they refuse."""

import math
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.support.networks import drawn_from_prior
from vebnn import MAP, JointRegressor, ResNet, Training
from vebnn.networks import build_networks
from vebnn.networks.resnet import normalise
from vebnn.networks.scales import BIAS_SPREAD, LAYER_SPREAD


def size_of(recipe: ResNet, in_shape: tuple[int, ...]) -> int:
    built = jax.eval_shape(lambda key: recipe.build(in_shape, 1, key=key), jax.random.key(0))
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(built))


@pytest.fixture
def image(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(8, 10, 2)).astype(np.float32)


def test_resnet_34_has_the_published_number_of_parameters() -> None:
    # torchvision's resnet34 without its classifier; 17,024 of them are gains and biases.
    # Stage by stage: 3×3 convolutions of n blocks, where the first may come from half the channels.
    def stage(blocks: int, channels: int, before: int) -> int:
        shortcut = channels * before if before != channels else 0
        return 9 * channels * (before + (2 * blocks - 1) * channels) + shortcut

    stages = stage(3, 64, 64) + stage(4, 128, 64) + stage(6, 256, 128) + stage(3, 512, 256)
    # Two normalisations a block, one in the stem and one in each of three shortcuts.
    affine = 2 * (64 * (6 + 1) + 128 * (8 + 1) + 256 * (12 + 1) + 512 * (6 + 1))
    assert affine == 17_024
    assert 49 * 3 * 64 + stages + affine == 21_284_672
    outputs = 512 + 1
    assert size_of(ResNet(34, head=()), (128, 128, 3)) == 21_284_672 + outputs
    small_stem = 9 * 3 * 64
    assert size_of(ResNet(34, head=()), (64, 64, 3)) == small_stem + stages + affine + outputs
    two_layers = 512 * 512 + 512
    assert size_of(ResNet(34), (128, 128, 3)) == 21_284_672 + two_layers + outputs


def test_resnet_18_has_the_published_number_of_parameters() -> None:
    assert size_of(ResNet(18, head=()), (224, 224, 3)) == 11_176_512 + 513  # torchvision's resnet18


def test_normalisation_by_hand(rng: np.random.Generator) -> None:
    image = (5 + 3 * rng.normal(size=(4, 3, 48))).astype(np.float32)  # three groups of 16 channels
    gain, bias = rng.normal(size=(2, 48)).astype(np.float32)
    wanted = np.empty(image.shape)
    for group in range(3):
        here = slice(16 * group, 16 * group + 16)
        part = image[..., here].astype(float)
        wanted[..., here] = (part - part.mean()) / np.sqrt(part.var() + 1e-5) * gain[here] + bias[here]
    np.testing.assert_allclose(normalise(image, gain, bias), wanted, rtol=1e-4, atol=1e-5)


def convolved_by_hand(layer, image: np.ndarray) -> np.ndarray:
    """A convolution with loops over results, then its normalisation."""
    weight = np.asarray(layer.weight, float)
    gain, bias = 1 + np.asarray(layer.gain, float), np.asarray(layer.bias, float)
    size = len(weight)
    if layer.scales is not None:
        weight = weight / np.sqrt(np.prod(weight.shape[:3]))
        gain = gain * np.exp(LAYER_SPREAD * float(layer.scales.gain))
        bias = bias * np.exp(BIAS_SPREAD * float(layer.scales.bias))
    padded = np.pad(image, ((size // 2,) * 2, (size // 2,) * 2, (0, 0)))
    rows, columns = (range(0, side, layer.stride) for side in image.shape[:2])
    around = [[padded[h : h + size, w : w + size] for w in columns] for h in rows]
    result = np.einsum("hwijc,ijco->hwo", np.array(around), weight)
    mean, variance = result.mean(), result.var()  # one group
    return (result - mean) / np.sqrt(variance + 1e-5) * gain + bias


@pytest.mark.parametrize("prior", ["unit", "learned"])
def test_a_small_network_by_hand(prior: str, image: np.ndarray) -> None:
    # One group: 4 and 8 channels.
    network = drawn_from_prior(ResNet(6, 4, head=(), prior=prior), (8, 10, 2), 3)
    h = np.maximum(convolved_by_hand(network.stem, image.astype(float)), 0)
    for block in network.blocks:
        change = convolved_by_hand(block.second, np.maximum(convolved_by_hand(block.first, h), 0))
        h = np.maximum(
            change + (h if block.shortcut is None else convolved_by_hand(block.shortcut, h)), 0
        )
    assert h.shape == (4, 5, 8)
    np.testing.assert_allclose(
        eqx.filter_jit(network.features)(image), h.mean((0, 1)), rtol=1e-3, atol=1e-4
    )
    np.testing.assert_allclose(
        network(image), network.head(jnp.asarray(h.mean((0, 1)), jnp.float32)), rtol=1e-3, atol=1e-3
    )


def test_larger_images_are_divided_by_four_first(key: jax.Array) -> None:
    network = ResNet(4, 2, head=()).build((66, 70, 1), 1, key=key)
    assert network.stem.weight.shape == (7, 7, 1, 2)
    assert network.pool
    assert jax.eval_shape(network.stem, jnp.zeros((66, 70, 1))).shape == (33, 35, 2)
    assert jax.eval_shape(network, jnp.zeros((66, 70, 1))).shape == (1,)
    assert not ResNet(4, 2).build((64, 64, 1), 1, key=key).pool


def test_start(key: jax.Array) -> None:
    build = lambda prior: ResNet(10, 32, prior=prior).build((16, 16, 3), 1, key=key)  # noqa: E731
    network, learned = eqx.filter_jit(build)("unit"), eqx.filter_jit(build)("learned")
    for weight in (
        network.stem.weight,
        network.blocks[2].first.weight,
        network.blocks[3].shortcut.weight,
    ):
        fan_in = np.prod(weight.shape[:3])
        np.testing.assert_allclose(np.var(weight) * fan_in / 2, 1, atol=8 / np.sqrt(weight.size))
    assert not np.any(network.stem.gain)
    x = np.random.default_rng(0).normal(size=(16, 16, 3)).astype(np.float32)
    np.testing.assert_allclose(
        eqx.filter_jit(learned.features)(x), eqx.filter_jit(network.features)(x), rtol=1e-3, atol=1e-4
    )


def test_dropout_is_in_the_head_and_needs_a_key(image: np.ndarray, key: jax.Array) -> None:
    network = ResNet(4, 4, head=(64,), dropout_rate=0.5).build((8, 10, 2), 1, key=key)
    plain, dropped = eqx.filter_jit(network), eqx.filter_jit(lambda key: network(image, key=key))
    np.testing.assert_array_equal(plain(image), plain(image))
    outputs = [dropped(one) for one in jax.random.split(key, 3)]
    assert len({float(output[0]) for output in outputs}) == 3


def test_networks_stack(image: np.ndarray) -> None:
    networks = build_networks(
        ResNet(6, 4, prior="learned"), (8, 10, 2), 2, jax.random.split(jax.random.key(0), 3)
    )
    outputs = eqx.filter_vmap(lambda network: network(image))(networks)
    assert outputs.shape == (3, 2)
    assert len({float(value) for value in outputs[:, 0]}) == 3


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"depth": 19}, r"The `depth` of ResNet must be one of 4, 6, 8, 10, 18, 34\. Got 19\."),
        ({"width": 0}, r"The `width` must be a whole number of at least 1\. Got 0\."),
        ({"head": 512}, r"The `head` of ResNet must be a tuple of positive integers .* Got 512\."),
        ({"dropout_rate": 1.0}, r"The `dropout_rate` must be a number in \[0, 1\)\. Got 1\.0\."),
        ({"prior": "horseshoe"}, r"The `prior` must be .* Got 'horseshoe'"),
    ],
)
def test_bad_arguments(settings: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ResNet(**settings)


def test_what_is_no_image_is_refused(key: jax.Array) -> None:
    with pytest.raises(
        ValueError, match=r"\(rows, height, width, channels\)\. Got .* \(8, 8\); .* X\[\.\.\., None\]"
    ):
        ResNet(10, 4).build((8, 8), 1, key=key)
    with pytest.raises(
        ValueError, match=r"depth 10 takes images of at least 8×8 pixels\. Got 9×4; use a"
    ):
        ResNet(10, 4).build((9, 4, 1), 1, key=key)


def test_lists_become_tuples() -> None:
    assert ResNet(head=[8, 8]) == ResNet(head=(8, 8))
    assert hash(ResNet(head=[8, 8])) == hash(ResNet(head=(8, 8)))


def test_a_saved_model_predicts_the_same(tmp_path, rng: np.random.Generator) -> None:
    x = rng.normal(size=(12, 4, 4, 1)).astype(np.float32)
    training = Training(2, batch_size=6)
    network = ResNet(4, 2, head=(3,))
    model = JointRegressor(network, inference=MAP(training=training), training=training, random_state=0)
    model.fit(x, x.mean((1, 2, 3)))
    model.save(tmp_path / "model")
    loaded = JointRegressor.load(tmp_path / "model")
    assert loaded.network == network
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))


def test_numbers_of_16_bits_are_close_and_weights_keep_32(image: np.ndarray) -> None:
    recipe, key = ResNet(4, 4, head=()), jax.random.key(0)
    exact, short = (
        replace(recipe, bfloat16=one).build(image.shape, 1, key=key) for one in (False, True)
    )
    assert {leaf.dtype for leaf in jax.tree.leaves(short)} == {jnp.dtype("float32")}

    @eqx.filter_jit
    def both(network: eqx.Module) -> tuple[jax.Array, eqx.Module]:
        return eqx.filter_value_and_grad(lambda network: network(image)[0])(network)

    (value, gradient), (near, gradient_near) = both(exact), both(short)
    assert value != near
    np.testing.assert_allclose(near, value, rtol=0.1, atol=0.05)
    for one, other in zip(*map(jax.tree.leaves, (gradient, gradient_near)), strict=True):
        assert other.dtype == np.float32
        assert np.linalg.norm(other - one) <= 0.1 * np.linalg.norm(one) + 1e-3
    assert not recipe.build(image.shape, 1, key=key).stem.bfloat16  # on a CPU
