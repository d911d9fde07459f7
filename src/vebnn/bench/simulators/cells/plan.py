"""A set of images before it is drawn: its sizes and seed, and the random numbers of every image."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy

import vebnn
from vebnn.bench.simulators.cells import blur, image, nuclei
from vebnn.core.arguments import require_whole

FEWEST, MOST = 1, 200  # nuclei in an image
SPLITS = ("train", "validation", "test")

# Separate streams of random numbers: more of one kind leaves the others unchanged.
_COUNTS, _IMAGES = range(2)


@dataclass(frozen=True)
class Plan:
    """The settings of a set of images."""

    train: int = 10_000
    validation: int = 2_000
    test: int = 10_000
    size: int = 64  # pixels along an edge
    seed: int = 0

    def __post_init__(self) -> None:
        for name in SPLITS:
            require_whole(name, getattr(self, name), 1)
        require_whole("seed", self.seed, 0)
        require_whole("size", self.size, 1)
        if self.size > image.CANVAS:
            raise ValueError(f"The `size` must be at most {image.CANVAS} pixels. Got {self.size}.")

    @property
    def name(self) -> str:
        """Name of the files, without suffix."""
        return "cells"

    def description(self) -> dict[str, Any]:
        """Return all settings that decide the numbers, for JSON."""
        return {
            "sizes": {name: getattr(self, name) for name in (*SPLITS, "size")},
            "seed": self.seed,
            "counts": {"distribution": "uniform", "fewest": FEWEST, "most": MOST},
            "canvas": image.CANVAS,
            "nuclei": {
                "radius": nuclei.RADIUS,
                "vertices": nuclei.VERTICES,
                "roughness": nuclei.ROUGHNESS,
                "octaves": list(nuclei.OCTAVES),
                "darkest": nuclei.DARKEST,
            },
            "blur": {"std": [blur.SHARPEST, blur.BLURRIEST], "reach": blur.REACH},
            "background": {
                "illumination_energy": image.ILLUMINATION_ENERGY,
                "autofluorescence_energy": image.AUTOFLUORESCENCE_ENERGY,
                "autofluorescence_octaves": list(image.AUTOFLUORESCENCE_OCTAVES),
            },
            "noise_variance": image.NOISE_VARIANCE,
        }


def versions() -> dict[str, str]:
    """Return the versions of the packages that may change a pixel."""
    return {"vebnn": vebnn.__version__, "numpy": np.__version__, "scipy": scipy.__version__}


class Request(NamedTuple):
    """One image to draw."""

    stream: tuple[int, ...]  # seed of its random numbers
    nuclei: int
    size: int


def draw_counts(plan: Plan) -> dict[str, np.ndarray]:
    """Return the number of nuclei of every image; larger plans begin with those of smaller ones."""
    return {
        split: np.random.default_rng((plan.seed, _COUNTS, place)).integers(
            FEWEST, MOST, size=getattr(plan, split), endpoint=True
        )
        for place, split in enumerate(SPLITS)
    }


def list_requests(plan: Plan) -> list[Request]:
    """Return all images to draw: training, validation, test."""
    return [
        Request((plan.seed, _IMAGES, place, number), int(count), plan.size)
        for place, counts in enumerate(draw_counts(plan).values())
        for number, count in enumerate(counts)
    ]
