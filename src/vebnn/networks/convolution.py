"""Convolutions of one image, channels last."""

import jax

from vebnn.core.types import Array


def convolve(image: Array, weight: Array, stride: int) -> Array:
    """Return the convolution of an image with a kernel of odd size, zeros beyond the borders.

    Args:
      image: ``(height, width, channels in)``.
      weight: ``(size, size, channels in, channels out)``.
      stride: keep every pixel (1), or every second pixel of every second line (2).
    """
    padding = [(weight.shape[0] // 2,) * 2] * 2
    return jax.lax.conv_general_dilated(
        image[None], weight, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )[0]
