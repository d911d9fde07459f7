"""One image of fluorescent cells, as a microscope would see them.

After the description of SIMCEP (Lehmussola et al. 2007, "Computational framework for simulating
fluorescence microscope images with cell populations") with the settings of the cell-counting data.
"""

from functools import lru_cache

import numpy as np

from vebnn.bench.simulators.cells.blur import draw_widths, scatter
from vebnn.bench.simulators.cells.nuclei import compose, draw_nuclei, draw_textures
from vebnn.bench.simulators.cells.octaves import octave_textures

CANVAS = 256  # pixels along an edge before the image is resized
ILLUMINATION_ENERGY, AUTOFLUORESCENCE_ENERGY = 1.0, 0.05  # relative to the nuclei
AUTOFLUORESCENCE_OCTAVES = (1, 2)
NOISE_VARIANCE = 1e-4  # of the camera, where white is 1


def draw_image(rng: np.random.Generator, count: int, size: int) -> np.ndarray:
    """Return an image with ``count`` nuclei, uint8 ``(size, size, 1)``."""
    nuclei = draw_nuclei(rng, count, CANVAS)
    ideal = compose(nuclei, draw_textures(rng, nuclei), CANVAS)
    energy = float(np.vdot(ideal, ideal))
    image = scatter(ideal, draw_widths(rng, ideal))
    image += with_energy(illumination(CANVAS), ILLUMINATION_ENERGY * energy)
    image += with_energy(draw_autofluorescence(rng, CANVAS), AUTOFLUORESCENCE_ENERGY * energy)
    image += np.float32(NOISE_VARIANCE**0.5) * rng.standard_normal(image.shape, dtype=np.float32)
    matrix = averaging(CANVAS, size)
    resized = matrix @ np.clip(image, 0, 1) @ matrix.T
    return np.rint(255 * resized).astype(np.uint8)[:, :, None]


@lru_cache
def illumination(canvas: int) -> np.ndarray:
    """Return the uneven light, ``1 − r²/r²corner``: 1 in the middle of the canvas, 0 in its corners."""
    squares = np.linspace(-1, 1, canvas, dtype=np.float32) ** 2
    return 1 - (squares[:, None] + squares) / 2


def draw_autofluorescence(rng: np.random.Generator, canvas: int) -> np.ndarray:
    """Return the light of everything but nuclei: a smooth texture on the whole canvas."""
    size = np.array([canvas])
    return octave_textures(rng, AUTOFLUORESCENCE_OCTAVES, size, size)[0]


def with_energy(image: np.ndarray, energy: float) -> np.ndarray:
    """Return the image, scaled so that the sum of its squares is ``energy``."""
    return image * np.float32((energy / np.vdot(image, image)) ** 0.5)


@lru_cache
def averaging(canvas: int, size: int) -> np.ndarray:
    """Return the matrix ``(size, canvas)`` that averages the part of one axis that a pixel covers."""
    edges = np.arange(size + 1) * canvas / size
    pixels = np.arange(canvas)
    ends = np.minimum(edges[1:, None], pixels + 1)
    shares = np.clip(ends - np.maximum(edges[:-1, None], pixels), 0, None)
    return (shares * size / canvas).astype(np.float32)
