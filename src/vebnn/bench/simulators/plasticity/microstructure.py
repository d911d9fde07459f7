"""Stochastic volume elements: randomly placed discs in a periodic square, and their pixels."""

from dataclasses import dataclass

import numpy as np

from vebnn.core.arguments import require_whole

_SAMPLES_PER_PIXEL_SIDE = 8
_TRIES_BEFORE_A_RESTART = 20_000


@dataclass(frozen=True)
class Microstructure:
    """A periodic square with a fixed number of equal discs (paper, table of simulation parameters)."""

    size: float  # edge and period, mm
    radius: float = 0.003  # of every disc, mm
    volume_fraction: float = 0.30  # of the discs, before their number is rounded up
    least_distance: float = 1.1  # between the centres of two discs, in diameters

    @property
    def num_particles(self) -> int:
        """Number of discs in every element."""
        return int(np.ceil(self.volume_fraction * self.size**2 / (np.pi * self.radius**2)))


MATERIALS = {1: Microstructure(size=0.048), 2: Microstructure(size=0.030)}


def place_particles(structure: Microstructure, rng: np.random.Generator) -> np.ndarray:
    """Return ``(particles, 2)`` centres by random sequential addition with periodic distances.

    A uniform candidate is kept if it is far enough from all earlier centres. After too many
    candidates, the element starts again.
    """
    least = structure.least_distance * 2 * structure.radius
    while True:
        centres = np.empty((0, 2))
        for _ in range(_TRIES_BEFORE_A_RESTART):
            candidate = rng.uniform(0, structure.size, 2)
            distance = np.hypot(*_periodic(centres - candidate, structure.size).T)
            if (distance >= least).all():
                centres = np.vstack([centres, candidate])
            if len(centres) == structure.num_particles:
                return centres


def particle_fraction(structure: Microstructure, centres: np.ndarray, grid: int) -> np.ndarray:
    """Return ``(grid, grid)``: the share of every pixel's area that lies in discs.

    Axis 0 is direction 1. Areas are counted on 8 × 8 points per pixel, then rescaled to the exact
    total area of the discs.
    """
    require_whole("grid", grid, 4)
    points = grid * _SAMPLES_PER_PIXEL_SIDE
    position = (np.arange(points) + 0.5) * structure.size / points
    inside = np.zeros((points, points), bool)
    for centre in centres:
        along, across = (_periodic(position - one, structure.size) ** 2 for one in centre)
        inside |= along[:, None] + across < structure.radius**2
    pixels = inside.reshape(grid, _SAMPLES_PER_PIXEL_SIDE, grid, _SAMPLES_PER_PIXEL_SIDE)
    counted = pixels.mean((1, 3))
    exact = len(centres) * np.pi * structure.radius**2 / structure.size**2
    return np.clip(counted * (exact / counted.mean()), 0, 1)


def matrix_weight(fraction: np.ndarray, exponent: float = 1.5) -> np.ndarray:
    """Return how much of a pixel behaves as matrix, from the share of its area that lies in discs.

    Weights by area (exponent 1) make the pixels on the edge of a disc too stiff; giving each pixel to
    one phase makes them too soft. This power has the least bias.
    """
    return (1 - fraction) ** exponent


def _periodic(difference: np.ndarray, size: float) -> np.ndarray:
    return difference - size * np.round(difference / size)
