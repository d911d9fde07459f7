"""Stochastic volume elements: discs at random in a square that repeats itself, and their pixels."""

from dataclasses import dataclass

import numpy as np

from vebnn.core.arguments import require_whole

_SAMPLES_PER_PIXEL_SIDE = 8
_TRIES_BEFORE_A_RESTART = 20_000


@dataclass(frozen=True)
class Microstructure:
    """A square with a fixed number of equal discs (paper, table of simulation parameters).

    Lengths are in mm. The number of discs is fixed, so all elements have the same volume fraction.

    Args:
      size: edge of the square, which is one period in both directions.
      radius: of every disc.
      volume_fraction: share of the discs, before their number is rounded up.
      least_distance: between the centres of two discs, in diameters.
    """

    size: float
    radius: float = 0.003
    volume_fraction: float = 0.30
    least_distance: float = 1.1

    @property
    def num_particles(self) -> int:
        """Number of discs in every element."""
        return int(np.ceil(self.volume_fraction * self.size**2 / (np.pi * self.radius**2)))


MATERIALS = {1: Microstructure(size=0.048), 2: Microstructure(size=0.030)}


def place_particles(structure: Microstructure, rng: np.random.Generator) -> np.ndarray:
    """Return ``(particles, 2)`` centres by random sequential addition with periodic distances.

    Centres are drawn uniformly one after another, and kept if they are far enough from all before; if
    there is no room left for the next, all begins anew.
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

    Axis 0 is direction 1. Areas are counted on 8 × 8 points per pixel, and then rescaled so that the
    discs have their exact area in the whole.
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

    Stress is averaged over the two phases of a pixel on the boundary of a disc. Weights by area
    (exponent 1) make it too stiff, as stiff phases then bear load side by side with soft ones; taking
    each pixel as wholly one phase makes it too soft. A power between the two has the least bias.
    """
    return (1 - fraction) ** exponent


def _periodic(difference: np.ndarray, size: float) -> np.ndarray:
    return difference - size * np.round(difference / size)
