"""Convolutions, channels last, with gradients that are quick on a CPU.

XLA's gradients of a convolution are convolutions whose axes have another order. On a CPU it rewrites
these for its fast kernels, but not inside a loop: there, where every training step is, it falls back to
plain loops. So a convolution on a CPU is a JAX primitive of its own here, with gradients in forms that
need no rewriting. Under ``jax.vmap`` a primitive sees all images of a batch at once.

The gradient in the weights is a matrix product: the gradient in the results, times the pixels around
each result side by side. The latter are as many numbers as the images times the size of the kernel, so
they are written for a few images at a time and read again while they are in the cache.

The part "ablation" of ``make bench`` has the time of a training step with this and with XLA's own
gradients, the part "images" that of PyTorch, which is still faster.

Tried, and not faster as a whole:

- Winograd's F(4×4, 3×3): a quarter of the products, but XLA's loops over its tiles are slow, and each
  convolution takes seconds to compile.
- The convolution itself as products, of one image at a time: only with 16 channels, and putting pixels
  together is faster there too.
- Pixels side by side in one axis only, and gradients side by side in the other: as fast, less simple.
- Strides of 2 as four convolutions of a quarter of the pixels: only with 16 channels.
- A normalisation whose gradient has one sum over pixels less, XLA's switch for oneDNN, wider vectors
  and its other schedulers: no gain beyond the noise.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from vebnn.core.types import Array

IN_CACHE = 600_000  # numbers written at a time; 2.4 MB


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
        return _convolution.bind(image[None], weight, stride=stride)[0]
    return _convolve(image[None], weight, stride=stride)[0]


def _convolve(
    images: Array, weight: Array, *, stride: int, columns: int | None = None, axes: str = "HWIO"
) -> Array:
    padding = [(weight.shape[0] // 2,) * 2] * 2
    strides = (stride, columns or stride)
    return jax.lax.conv_general_dilated(
        images, weight, strides, padding, dimension_numbers=("NHWC", axes, "NHWC")
    )


def _on_cpu(images: Array, weight: Array, *, stride: int) -> Array:
    """Return the convolution; where channels are few, pixels side by side are channels of one result.

    With fewer than 32 channels XLA's convolution is slow: the wider kernel has zeros, and is faster.
    """
    *_, channels_in, channels = weight.shape
    together = 4 if channels_in < 8 else 2
    if stride > 1 or max(channels_in, channels) >= 32 or images.shape[2] % together:
        return _convolve(images, weight, stride=stride)
    shifted = [
        jnp.pad(weight, ((0, 0), (shift, together - 1 - shift), (0, 0), (0, 0)))
        for shift in range(together)
    ]
    wide = jnp.concatenate(shifted, 3)
    values = _convolve(images, wide, stride=1, columns=together)
    return values.reshape(*images.shape[:3], channels)


def _shape(images: Any, weight: Any, *, stride: int) -> ShapedArray:
    num_images, height, width, _ = images.shape
    sides = -(-height // stride), -(-width // stride)
    return ShapedArray((num_images, *sides, weight.shape[-1]), images.dtype)


def _gradient_in_images(cotangent: Array, images: Any, weight: Array, *, stride: int) -> Array:
    # The transpose of a convolution whose kernel has its axes in this order is quick.
    if stride == 1:
        return _on_cpu(cotangent, weight[::-1, ::-1].swapaxes(2, 3), stride=1)
    (gradient,) = jax.linear_transpose(
        lambda images: _convolve(images, weight.swapaxes(2, 3), stride=stride, axes="HWOI"), images.aval
    )(cotangent)
    return gradient


def _gradient_in_weight(cotangent: Array, images: Array, weight: Any, *, stride: int) -> Array:
    shape, num_images = weight.aval.shape, len(images)
    around = cotangent[0, :, :, 0].size * shape[0] * shape[1] * shape[2]
    group = min(max(1, IN_CACHE // around), num_images)
    whole = num_images - num_images % group

    def add(gradient: Array, some: tuple[Array, Array]) -> tuple[Array, None]:
        return gradient + _product(*some, shape[0], stride), None

    start = jnp.zeros((shape[3], shape[0] * shape[1] * shape[2]), cotangent.dtype)
    groups = [each[:whole].reshape(-1, group, *each.shape[1:]) for each in (cotangent, images)]
    gradient, _ = jax.lax.scan(add, start, tuple(groups))
    if whole < num_images:
        gradient, _ = add(gradient, (cotangent[whole:], images[whole:]))
    return gradient.T.reshape(shape)


def _product(cotangent: Array, images: Array, size: int, stride: int) -> Array:
    """Return the gradient in the weights, ``(channels out, size · size · channels in)``."""
    height, width = images.shape[1:3]
    images = jnp.pad(images, ((0, 0), (size // 2,) * 2, (size // 2,) * 2, (0, 0)))
    around = [
        images[:, i : i + height : stride, j : j + width : stride]
        for i in range(size)
        for j in range(size)
    ]
    side_by_side = jnp.stack(around, 3).reshape(-1, size * size * images.shape[-1])
    return cotangent.reshape(len(side_by_side), -1).T @ side_by_side


def _of_batch(
    arguments: tuple[Array, Array], axes: tuple[Any, Any], *, stride: int
) -> tuple[Array, int]:
    (images, weight), (of_images, of_weight) = arguments, axes
    if of_weight is None:
        batch = jnp.moveaxis(images, of_images, 0)
        flat = batch.reshape(-1, *batch.shape[2:])
        values = _convolution.bind(flat, weight, stride=stride)
        return values.reshape(*batch.shape[:2], *values.shape[1:]), 0
    # One kernel after another, so that gradients stay those above.
    weights = jnp.moveaxis(weight, of_weight, 0)
    if of_images is None:
        return jax.lax.map(lambda each: _convolution.bind(images, each, stride=stride), weights), 0
    batch = jnp.moveaxis(images, of_images, 0)
    return jax.lax.map(lambda each: _convolution.bind(*each, stride=stride), (batch, weights)), 0


_convolution = Primitive("vebnn_convolution")
_convolution.def_impl(jax.jit(_on_cpu, static_argnames="stride"))
_convolution.def_abstract_eval(_shape)
mlir.register_lowering(_convolution, mlir.lower_fun(_on_cpu, multiple_results=False))
ad.defbilinear(_convolution, _gradient_in_images, _gradient_in_weight)
batching.primitive_batchers[_convolution] = _of_batch
