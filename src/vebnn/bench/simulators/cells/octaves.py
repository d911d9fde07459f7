"""Smooth random textures: octaves of noise, each resized to the texture's size."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

_BICUBIC = -0.5  # Keys' parameter: reproduces quadratic polynomials


@lru_cache(maxsize=1024)
def resizing(octave: int, size: int) -> np.ndarray:
    """Return the matrix of one axis, ``(size, 2**octave)``: mean of 3 values, then bicubic resizing.

    Both are separable, so a texture is the product of the rows' matrix, the noise and the transposed
    columns' matrix. The noise continues beyond its edges with its outermost values.
    """
    length = 2**octave
    places = (np.arange(size) + 0.5) * length / size - 0.5
    first = np.floor(places).astype(int) - 1
    bicubic = np.zeros((size, length))
    for step in range(4):
        knots = first + step
        columns = np.clip(knots, 0, length - 1)
        np.add.at(bicubic, (np.arange(size), columns), _keys(places - knots))
    mean = np.zeros((length, length))
    for step in (-1, 0, 1):
        np.add.at(mean, (np.arange(length), np.clip(np.arange(length) + step, 0, length - 1)), 1 / 3)
    return (bicubic @ mean).astype(np.float32)


def _keys(distances: np.ndarray) -> np.ndarray:
    """Return the weights of Keys' cubic convolution."""
    x, a = np.abs(distances), _BICUBIC
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * (x**3 - 5 * x**2 + 8 * x - 4)
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


def octave_textures(
    rng: np.random.Generator, octaves: Sequence[int], heights: np.ndarray, widths: np.ndarray
) -> np.ndarray:
    """Return one random texture per height and width, each scaled to the interval [0, 1].

    Octave i is uniform noise of 2ⁱ×2ⁱ, averaged over 3×3, resized, and has the weight 0.5ⁱ.

    Returns:
      float32 ``(textures, largest height, largest width)``, zero beyond a texture's own size.
    """
    shape = len(heights), int(heights.max()), int(widths.max())
    textures = np.zeros(shape, np.float32)
    for octave in octaves:
        noise = rng.random((len(heights), 2**octave, 2**octave), dtype=np.float32)
        rows, columns = _matrices(octave, heights), _matrices(octave, widths)
        textures += np.float32(0.5**octave) * (rows @ noise @ columns.transpose(0, 2, 1))
    inside = (np.arange(shape[1]) < heights[:, None])[:, :, None]
    inside = inside & (np.arange(shape[2]) < widths[:, None])[:, None, :]
    low = textures.min((1, 2), where=inside, initial=np.inf)[:, None, None]
    high = textures.max((1, 2), where=inside, initial=-np.inf)[:, None, None]
    return np.where(inside, (textures - low) / (high - low), np.float32(0))


def _matrices(octave: int, sizes: np.ndarray) -> np.ndarray:
    """Return the matrix of every size, with rows of zeros up to the largest."""
    kinds, chosen = np.unique(sizes, return_inverse=True)
    table = np.zeros((len(kinds), int(kinds[-1]), 2**octave), np.float32)
    for rows, size in zip(table, kinds, strict=True):
        rows[:size] = resizing(octave, int(size))
    return table[chosen]
