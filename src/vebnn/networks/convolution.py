"""Convolutions of one image, channels last, with gradients that are quick on a CPU.

XLA's gradients of a convolution are convolutions whose axes have another order. On a CPU it rewrites
these for its fast kernels, but not inside a loop: there, where every training step is, it falls back to
plain loops. A step of a small ResNet then takes 4 times as long on images of 16×16, 17 times as long on
64×64. So the gradients are written here in forms that need no rewriting.

The gradient in the weights is a matrix product: the gradient in the results, times the pixels around
each result side by side. The part "ablation" of ``make bench`` has the time of a training step with
this and with XLA's own gradients, the part "images" that of PyTorch.
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
        change = change + _product(image, of_weight, stride)
    return value, change


_convolve_on_cpu.defjvp(_derivative, symbolic_zeros=True)


def _product(image: Array, weight: Array, stride: int) -> Array:
    """Return the convolution as one product, with the pixels around each result side by side."""
    size, (height, width) = len(weight), image.shape[:2]
    # Otherwise XLA computes the image anew for every shift.
    image = jax.lax.optimization_barrier(image)
    image = jnp.pad(image, ((size // 2,) * 2, (size // 2,) * 2, (0, 0)))
    parts = [
        image[i : i + height : stride, j : j + width : stride] for i in range(size) for j in range(size)
    ]
    product = jnp.tensordot(jnp.stack(parts, 2), weight.reshape(size**2, *weight.shape[2:]), 2)
    return jax.lax.optimization_barrier(product)
