"""Fluorescence-microscope images of cell nuclei, whose number is the target."""

from vebnn.bench.simulators.cells.image import draw_image

__all__ = ["draw_image"]
