"""Convolutions of one image, channels last, with gradients that are quick on a CPU.

XLA's gradients of a convolution are convolutions whose axes have another order. On a CPU it rewrites
these for its fast kernels, but not inside a loop: there, where every training step is, it falls back to
plain loops that take 50 times as long. So the gradients are written here in forms that need no
rewriting.

The gradient in the weights is a matrix product. With x the pixels and g the gradient in the results,

    ∂w[i, j] = Σ x[h + i, w + j] g[h, w]ᵀ = Σ x[h, w] g[h − i, w − j]ᵀ:

the pixels times all shifts of g side by side. The part "ablation" of ``make bench`` has the time of a
training step with this and with XLA's own gradients.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from vebnn.core.types import Array


def convolve(image: Array, weight: Array, stride: int) -> Array:
    """Return the convolution of an image with a kernel of odd size, zeros beyond the borders.

    Args:
      image: ``(height, width, channels in)``.
      weight: ``(size, size, channels in, channels out)``.
      stride: of every so many lines one is kept, and of every so many pixels of a line.
    """
    if weight.shape[0] == 1:
        return image[::stride, ::stride] @ weight[0, 0]
    if jax.default_backend() == "cpu":
        return _convolve_on_cpu(image, weight, stride)
    return _convolve(image, weight, stride, "HWIO")


def _convolve(image: Array, weight: Array, stride: int, axes: str) -> Array:
    padding = [(weight.shape[0] // 2,) * 2] * 2
    return jax.lax.conv_general_dilated(
        image[None], weight, (stride, stride), padding, dimension_numbers=("NHWC", axes, "NHWC")
    )[0]


@partial(jax.custom_jvp, nondiff_argnums=(2,))
def _convolve_on_cpu(image: Array, weight: Array, stride: int) -> Array:
    return _convolve(image, weight, stride, "HWIO")


# A derivative, which JAX transposes: a gradient of our own would be computed for each image of a batch
# and then added up.
def _derivative(stride: int, primals: Any, tangents: Any) -> tuple[Array, Array]:
    (image, weight), (of_image, of_weight) = primals, tangents
    value = _convolve_on_cpu(image, weight, stride)
    change = jnp.zeros_like(value)
    if not isinstance(of_image, SymbolicZero):
        # The axes are in the order of the fast kernels after transposing.
        change = change + _convolve(of_image, weight.swapaxes(2, 3), stride, "HWOI")
    if not isinstance(of_weight, SymbolicZero):
        change = change + _products(image, of_weight, stride)
    return value, change


_convolve_on_cpu.defjvp(_derivative, symbolic_zeros=True)


def _products(image: Array, weight: Array, stride: int) -> Array:
    """Return the convolution as products of all pixels with all weights, shifted and added up."""
    size = len(weight)
    height, width = (-(-side // stride) for side in image.shape[:2])
    spare = [
        (0, stride * kept - side, 0) for kept, side in zip((height, width), image.shape, strict=False)
    ]
    image = jax.lax.pad(image, jnp.zeros((), image.dtype), (*spare, (0, 0, 0)))
    total = jnp.zeros((height, width, weight.shape[-1]), image.dtype)
    # With a stride, pixels of the same remainder meet the same weights.
    for line in range(stride):
        for column in range(stride):
            steps = [
                (i, j)
                for i in range(size)
                for j in range(size)
                if (i - size // 2) % stride == line and (j - size // 2) % stride == column
            ]
            if not steps:
                continue
            weights = jnp.stack([weight[i, j] for i, j in steps], axis=1)
            products = jnp.tensordot(image[line::stride, column::stride], weights, 1)
            for (i, j), part in zip(steps, jax.lax.split(products, [1] * len(steps), 2), strict=True):
                down, right = (i - size // 2) // stride, (j - size // 2) // stride
                shift = ((-down, down, 0), (-right, right, 0), (0, 0, 0))
                total = total + jax.lax.pad(part[:, :, 0], jnp.zeros((), part.dtype), shift)
    return total
