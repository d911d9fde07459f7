"""Augmentation: images are flipped and shifted at random while a network is trained."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from vebnn.core import prng
from vebnn.core.arguments import require_one_of, require_whole
from vebnn.core.types import Array, Key

_STREAM = 2**32 - 2  # of random numbers; dropout's start at 0


@dataclass(frozen=True)
class Augmentation:
    """How an image is changed, each time it is trained on.

    The target must stay the same: a turned chair must not be flipped. Predictions are of images as
    they are.

    Args:
      flip: left and right are exchanged, every second time.
      shift: the most pixels by which an image is moved, along each axis; the border is repeated.
    """

    flip: bool = False
    shift: int = 0

    def __post_init__(self) -> None:
        require_one_of("flip", self.flip, (False, True))
        require_whole("shift", self.shift, 0)

    def __call__(self, image: Array, key: Key) -> Array:
        """Return an image ``(height, width, channels)`` changed at random."""
        coin, *places = prng.uniform(key, 3, stream=_STREAM)
        if self.flip:
            image = jnp.where(coin < 0.5, image[:, ::-1], image)
        if self.shift:
            border = ((self.shift, self.shift), (self.shift, self.shift), (0, 0))
            padded = jnp.pad(image, border, mode="edge")
            # The numbers are below 1, so that all 2 · shift + 1 places are equally likely.
            rows, columns = (jnp.int32(place * (2 * self.shift + 1)) for place in places)
            image = jax.lax.dynamic_slice(padded, (rows, columns, 0), image.shape)
        return image
