"""Nuclei: random outlines, filled, each with its own texture, put together on one canvas."""

from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from vebnn.bench.simulators.cells.octaves import octave_textures

RADIUS = 5.0  # pixels
VERTICES = 10
ROUGHNESS = 0.1  # of angles and positions of the vertices
OCTAVES = (2, 3, 4, 5, 6)
DARKEST = 0.2  # value of a nucleus where its texture is 0; where it is 1 the value is 1

_PIECES = 8  # of the outline between two vertices: none is as high as a pixel, as a test proves


def _closed_spline() -> np.ndarray:
    """Return the matrix from vertices to points of the closed cubic spline through them."""
    vertices = np.eye(VERTICES)
    spline = CubicSpline(
        np.arange(VERTICES + 1), np.vstack([vertices, vertices[:1]]), bc_type="periodic"
    )
    return spline(np.arange(VERTICES * _PIECES) / _PIECES)


SPLINE = _closed_spline()


def draw_outlines(rng: np.random.Generator, count: int) -> np.ndarray:
    """Return closed outlines around the origin: rows and columns of points, ``(2, count, points)``.

    The vertices are the corners of a regular decagon, with random shifts of angles and coordinates.
    """
    angle_shifts, shifts = ROUGHNESS * rng.uniform(-1, 1, (2, 2, count, VERTICES))
    angles = 2 * np.pi / VERTICES * np.arange(VERTICES) + angle_shifts
    return RADIUS * (np.stack([np.cos(angles[0]), np.sin(angles[1])]) + shifts) @ SPLINE.T


class Nuclei(NamedTuple):
    """Filled nuclei, each in a box of its own; boxes may reach beyond the canvas."""

    corners: np.ndarray  # (2, count): row and column of the box's first pixel
    sizes: np.ndarray  # (2, count): height and width of the box
    masks: np.ndarray  # (count, largest height, largest width): the pixels that belong to the nucleus


def fill(outlines: np.ndarray) -> Nuclei:
    """Return the pixels whose centres lie inside each outline, by the even-odd rule.

    Every pixel right of an odd number of crossings of its row with the outline lies inside.

    Args:
      outlines: rows and columns of points on the canvas, ``(2, count, points)``. Neighbouring points
        are less than a pixel apart in their rows, so that a piece crosses at most one row of centres.
    """
    after = np.ceil(outlines - 0.5).astype(int)  # the first pixel whose centre is not before the point
    corners = after.min(2)
    sizes = np.maximum(after.max(2) - corners, 1)
    next_rows = np.roll(after[0], -1, 1)
    number, piece = np.nonzero(after[0] != next_rows)
    row = np.minimum(after[0], next_rows)[number, piece]
    y, x = outlines[:, number, piece]
    next_y, next_x = outlines[:, number, (piece + 1) % outlines.shape[2]]
    crossing = x + (row + 0.5 - y) * (next_x - x) / (next_y - y)
    column = np.ceil(crossing - 0.5).astype(int)
    height, width = sizes.max(1)
    # A crossing right of the last pixel's centre changes no pixel: it falls into one more column.
    shape = outlines.shape[1], height, width + 1
    places = np.ravel_multi_index(
        (number, row - corners[0, number], column - corners[1, number]), shape
    )
    crossings = np.bincount(places, minlength=np.prod(shape)).reshape(shape)
    return Nuclei(corners, sizes, crossings.cumsum(2)[:, :, :width] % 2 == 1)


def draw_nuclei(rng: np.random.Generator, count: int, canvas: int) -> Nuclei:
    """Return nuclei whose centres are uniform on the canvas; they may overlap, and cross its edges."""
    centres = rng.uniform(0, canvas, (2, count, 1))
    return fill(centres + draw_outlines(rng, count))


def draw_textures(rng: np.random.Generator, nuclei: Nuclei) -> np.ndarray:
    """Return the brightness of every nucleus in its box, between ``DARKEST`` and 1."""
    textures = octave_textures(rng, OCTAVES, *nuclei.sizes)
    return np.float32(DARKEST) + np.float32(1 - DARKEST) * textures


def compose(nuclei: Nuclei, textures: np.ndarray, canvas: int) -> np.ndarray:
    """Return the canvas with all nuclei: their mean where they overlap, zero outside of them."""
    number, row, column = np.nonzero(nuclei.masks)
    values = textures[number, row, column]
    row, column = row + nuclei.corners[0, number], column + nuclei.corners[1, number]
    seen = (row >= 0) & (row < canvas) & (column >= 0) & (column < canvas)
    places, values = (row * canvas + column)[seen], values[seen]
    sums = np.bincount(places, values, minlength=canvas**2)
    times = np.bincount(places, minlength=canvas**2)
    return (sums / np.maximum(times, 1)).astype(np.float32).reshape(canvas, canvas)
