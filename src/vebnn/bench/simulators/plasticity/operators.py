"""Displacements to strains and stresses to forces, on a periodic grid.

Pixels are bilinear elements with one integration point: the rotated scheme of Willot (2015).
Displacements and forces are at the corners, ``(2, grid, grid)``; strains and stresses at the centres of
pixels. A pixel is one unit wide.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from vebnn.bench.simulators.plasticity.material import Plane
from vebnn.core.types import Array


def strain_of(displacement: Array) -> Plane:
    """Return the symmetric gradient of displacements, from differences along the pixels' diagonals."""
    corners = jnp.pad(displacement, ((0, 0), (0, 1), (0, 1)), mode="wrap")
    rising = corners[:, 1:, 1:] - corners[:, :-1, :-1]
    falling = corners[:, 1:, :-1] - corners[:, :-1, 1:]
    along, across = 0.5 * (rising + falling), 0.5 * (rising - falling)
    return Plane(along[0], across[1], 0.5 * (along[1] + across[0]))


def forces_of(stress: Plane) -> Array:
    """Return the forces on the corners that balance stresses: the adjoint of `strain_of`."""
    first = jnp.stack([stress.xx, stress.xy])
    second = jnp.stack([stress.xy, stress.yy])
    wrapped = ((0, 0), (1, 0), (1, 0))
    rising = jnp.pad(0.5 * (first + second), wrapped, mode="wrap")
    falling = jnp.pad(0.5 * (first - second), wrapped, mode="wrap")
    return rising[:, :-1, :-1] - rising[:, 1:, 1:] + falling[:, :-1, 1:] - falling[:, 1:, :-1]


class Spectrum(NamedTuple):
    """Products of the unit wave vector of the grid's own derivatives, and 1/|wave vector|²."""

    xx: np.ndarray
    xy: np.ndarray
    yy: np.ndarray
    inverse: np.ndarray


def spectrum(grid: int) -> Spectrum:
    """Return the wave vectors for real Fourier transforms over a grid.

    A shift of the whole and, on an even grid, the checkerboard strain no pixel: their inverse is 0.
    """
    first = np.pi * np.fft.fftfreq(grid)[:, None]
    second = np.pi * np.fft.rfftfreq(grid)[None, :]
    x = 2 * np.sin(first) * np.cos(second)
    y = 2 * np.cos(first) * np.sin(second)
    square = x**2 + y**2
    inverse = np.divide(1.0, square, out=np.zeros_like(square), where=square > 1e-12)
    return Spectrum(x**2 * inverse, x * y * inverse, y**2 * inverse, inverse)


def solve_homogeneous(waves: Spectrum, force: Array, shear: Array, lame: Array) -> Array:
    """Return the displacement of a homogeneous elastic grid under forces, exactly.

    In Fourier space u = (I − (λ+G)/(λ+2G) k kᵀ/|k|²) f / (G |k|²).
    """
    first, second = jnp.fft.rfft2(force)
    coupling = (lame + shear) / (lame + 2 * shear)
    scale = waves.inverse / shear
    longitudinal = coupling * (waves.xx * first + waves.xy * second)
    transversal = coupling * (waves.xy * first + waves.yy * second)
    answer = jnp.stack([scale * (first - longitudinal), scale * (second - transversal)])
    return jnp.fft.irfft2(answer, s=force.shape[-2:])
