"""Residual networks, for images."""

import math
from dataclasses import KW_ONLY, dataclass
from itertools import accumulate, islice
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp

from vebnn.core.arguments import require_number, require_one_of, require_whole, require_widths
from vebnn.core.types import Array, Key
from vebnn.networks.augmentation import Augmentation
from vebnn.networks.convolution import convolve
from vebnn.networks.mlp import MLP, Perceptron
from vebnn.networks.scales import PRIORS, ConvolutionScales

# Blocks of each stage, by depth: two convolutions a block, the stem and the outputs.
BLOCKS = {4: (1,), 6: (1, 1), 8: (1, 1, 1), 10: (1, 1, 1, 1), 18: (2, 2, 2, 2), 34: (3, 4, 6, 3)}
LARGE = 64  # pixels; longer sides are divided by four before the first stage
GROUP = 16  # channels that are normalised together
EPSILON = 1e-5  # added to their variance, as in PyTorch

Layer = tuple[tuple[int, ...], int]  # shape of a convolution's weights, and its stride


@dataclass(frozen=True)
class ResNet:
    """Recipe of a residual network (He et al. 2016), for images.

    A stem is followed by stages of blocks. A block adds two 3×3 convolutions to what comes in; the
    first block of every later stage halves height and width and doubles the channels. Means over all
    pixels go through a perceptron.

    The stem is a 3×3 convolution for images up to 64×64, as in the paper, and above that a 7×7
    convolution with stride 2 and a maximum over 3×3 pixels with stride 2.

    Departures: the paper's networks have batch normalisation. Its statistics tie examples together,
    so that a posterior over weights is not defined. Here groups of 16 channels of one image are
    normalised (Wu and He 2018), with as many parameters. Larger groups keep more of what a mean over
    all pixels is to show, such as how many cells there are.

    Args:
      depth: 18 or 34 as in the literature, or 4, 6, 8 or 10 with one block in each of one to four
        stages, for a CPU.
      width: channels of the first stage.
      head: widths of the hidden layers of the perceptron; the paper's mean network has (512,), its
        variance network and its evidential network have ().
      dropout_rate: dropout after each hidden layer of the head.
      prior: ``"unit"`` (paper) is N(0, 1) on every weight. ``"learned"`` learns the scale of each
        layer with them; see :mod:`vebnn.networks.scales`.
      stem_stride: 2 halves height and width in the stem of images up to 64×64: a quarter of the cost.
      augmentation: how images are changed at random in training, such as
        ``Augmentation(flip=True, shift=4)``; None leaves them as they are.

      bfloat16: convolutions of numbers of 16 bits, on accelerators faster; sums, normalisation and
        weights keep 32 bits. None: wherever there is an accelerator.

    Convolutions start with the variance 2/fan_in (He et al. 2015), gains at 1 and the head as an
    :class:`MLP` does. A gain is stored as its difference from 1, around which the prior lies.

    Example:
      >>> VeBNNRegressor(network=ResNet(18), variance_network=ResNet(10, 16, head=()))
    """

    depth: int = 18
    width: int = 64
    _: KW_ONLY
    head: tuple[int, ...] = (512,)
    dropout_rate: float = 0.0
    prior: Literal["unit", "learned"] = "unit"
    stem_stride: int = 1
    augmentation: Augmentation | None = None
    bfloat16: bool | None = None

    def __post_init__(self) -> None:
        if self.depth not in BLOCKS:
            known = ", ".join(map(str, BLOCKS))
            raise ValueError(f"The `depth` of ResNet must be one of {known}. Got {self.depth!r}.")
        require_whole("width", self.width, 1)
        # A tuple, because a recipe is part of the key of a compiled program.
        object.__setattr__(self, "head", require_widths("ResNet", self.head, 0, name="head"))
        require_number("dropout_rate", self.dropout_rate, 0, 1, "[)")
        require_one_of("prior", self.prior, PRIORS)
        require_one_of("stem_stride", self.stem_stride, (1, 2))
        require_one_of("bfloat16", self.bfloat16, (None, False, True))
        if not isinstance(self.augmentation, Augmentation | None):
            raise ValueError(
                f"The `augmentation` of ResNet must be an Augmentation(...) or None. Got "
                f"{self.augmentation!r}."
            )

    def build(self, in_shape: tuple[int, ...], out_size: int, *, key: Key) -> "ResidualNetwork":
        """Return a network from ``(height, width, channels)`` to ``(out_size,)``.

        Raises:
          ValueError: if one example is no image, or too small for the depth.
        """
        self._check(in_shape)
        large, learned = max(in_shape[:2]) > LARGE, self.prior == "learned"
        bfloat16 = jax.default_backend() != "cpu" if self.bfloat16 is None else self.bfloat16
        size, stride = (7, 2) if large else (3, self.stem_stride)
        blocks = self._blocks()
        layers: list[Layer] = [((size, size, in_shape[-1], self.width), stride)]
        layers += [layer for block in blocks for layer in block]
        key_convolutions, key_head = jax.random.split(key)
        # One call for all random numbers: one per array would dominate compilation.
        counts = [math.prod(shape) for shape, _ in layers]
        numbers = jax.random.normal(key_convolutions, (sum(counts),))
        built = iter(
            Convolution.start(
                numbers[end - math.prod(shape) : end].reshape(shape), stride, learned, bfloat16
            )
            for (shape, stride), end in zip(layers, accumulate(counts), strict=True)
        )
        stem = next(built)
        head = MLP(self.head, "relu", self.dropout_rate, self.prior)
        channels = blocks[-1][0][0][-1]
        return ResidualNetwork(
            stem,
            [Block(*islice(built, len(block))) for block in blocks],
            head.build((channels,), out_size, key=key_head),
            large,
            self.augmentation,
        )

    def _check(self, in_shape: tuple[int, ...]) -> None:
        """Refuse examples that are no images, or too small."""
        if len(in_shape) != 3:
            raise ValueError(
                f"A ResNet takes images: X of shape (rows, height, width, channels). Got examples of "
                f"shape {in_shape}; for a table use MLP((50,)), for grey images X[..., None]."
            )
        smallest = self.stem_stride * 2 ** (len(BLOCKS[self.depth]) - 1)
        if min(in_shape[:2]) < smallest:
            raise ValueError(
                f"A ResNet of depth {self.depth} takes images of at least {smallest}×{smallest} "
                f"pixels. Got {in_shape[0]}×{in_shape[1]}; use a smaller `depth` such as ResNet(4)."
            )

    def _blocks(self) -> list[list[Layer]]:
        """Return the shapes and strides of each block's convolutions; the last is a shortcut's."""
        blocks: list[list[Layer]] = []
        channels = self.width
        for stage, count in enumerate(BLOCKS[self.depth]):
            wider = self.width * 2**stage
            for _ in range(count):
                stride = 1 if wider == channels else 2
                block: list[Layer] = [((3, 3, channels, wider), stride), ((3, 3, wider, wider), 1)]
                blocks.append(block if stride == 1 else [*block, ((1, 1, channels, wider), stride)])
                channels = wider
        return blocks


class Convolution(eqx.Module):
    """A convolution, whose results are normalised."""

    weight: Array  # (size, size, channels in, channels out)
    gain: Array  # (channels out,), minus one
    bias: Array  # (channels out,)
    scales: ConvolutionScales | None
    stride: int = eqx.field(static=True)
    bfloat16: bool = eqx.field(static=True)

    @classmethod
    def start(cls, numbers: Array, stride: int, learned: bool, bfloat16: bool) -> "Convolution":
        """Return a convolution from standard normal numbers in the shape of its weights."""
        fan_in = math.prod(numbers.shape[:3])
        # Learned scales have the factor 1/√fan_in in them.
        weight = numbers * math.sqrt(2 if learned else 2 / fan_in)
        zeros = jnp.zeros(numbers.shape[-1])
        scales = ConvolutionScales.start() if learned else None
        return cls(weight, zeros, zeros, scales, stride, bfloat16)

    def __call__(self, image: Array) -> Array:
        """Map ``(height, width, channels in)`` to the channels out."""
        weight, gain, bias = self.weight, 1 + self.gain, self.bias
        if self.scales is not None:
            weight, gain, bias = self.scales.apply(weight, gain, bias)
        if self.bfloat16:
            image, weight = image.astype(jnp.bfloat16), weight.astype(jnp.bfloat16)
        return normalise(convolve(image, weight, self.stride).astype(gain.dtype), gain, bias)


class Block(eqx.Module):
    """Two convolutions, and what comes in added to them; where shapes differ, by a third one."""

    first: Convolution
    second: Convolution
    shortcut: Convolution | None = None

    def __call__(self, image: Array) -> Array:
        """Map one image to the next."""
        change = self.second(jax.nn.relu(self.first(image)))
        return jax.nn.relu(change + (image if self.shortcut is None else self.shortcut(image)))


class ResidualNetwork(eqx.Module):
    """The network a :class:`ResNet` recipe builds; it acts on one image."""

    stem: Convolution
    blocks: list[Block]
    head: Perceptron
    pool: bool = eqx.field(static=True)  # a maximum after the stem
    augmentation: Augmentation | None = eqx.field(static=True)

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        """Map ``(height, width, channels)`` to outputs; without a key, dropout is switched off."""
        return self.head(self.features(x), key=key)

    def augment(self, x: Array, key: Key) -> Array:
        """Return an image to train on in the place of another."""
        return x if self.augmentation is None else self.augmentation(x, key)

    def features(self, x: Array) -> Array:
        """Return what the head sees: a mean over pixels for each of the last channels."""
        image = jax.nn.relu(self.stem(x))
        if self.pool:
            around = ((1, 1), (1, 1), (0, 0))
            image = jax.lax.reduce_window(image, -jnp.inf, jax.lax.max, (3, 3, 1), (2, 2, 1), around)
        for block in self.blocks:
            image = block(image)
        return jnp.mean(image, (0, 1))


def normalise(image: Array, gain: Array, bias: Array) -> Array:
    """Return groups of channels with mean 0 and variance 1 over the image, with gain and bias."""
    channels = image.shape[-1]
    size = math.gcd(channels, GROUP)

    def over_groups(of_channels: Array) -> Array:
        means = jnp.mean(of_channels.reshape(-1, size), 1)
        return jnp.repeat(means, size, total_repeat_length=channels)

    mean = over_groups(jnp.mean(image, (0, 1)))
    centred = image - mean[None, None]
    variance = over_groups(jnp.mean(centred**2, (0, 1)))
    factor = gain * jax.lax.rsqrt(variance + EPSILON)
    return centred * factor[None, None] + bias[None, None]
