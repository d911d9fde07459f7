"""A whole set of images, every one drawn from random numbers of its own."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from vebnn.bench.simulators.cells.image import draw_image
from vebnn.bench.simulators.cells.plan import Plan, Request, draw_counts, list_requests, versions
from vebnn.bench.simulators.resumable import Arrays, Report, Work, make_data

_IMAGES_PER_PART = 100  # a second of work
_COUNTS_PER_GROUP = 50


def generate(
    plan: Plan,
    folder: str | Path,
    *,
    num_workers: int | None = None,
    report: Report = lambda done, total: None,
) -> Path:
    """Draw a set of images into ``folder/cells.npz``, with a JSON file that describes it.

    The arrays are ``train_images``, uint8 ``(images, size, size, 1)``, and ``train_counts``, int64
    ``(images,)``; the same for ``validation`` and ``test``. They are not compressed, so that they can
    be mapped into memory. ``make_data`` says how an interrupted call is resumed.

    Args:
      plan: what to draw.
      folder: created if missing.
      num_workers: processes; one per core unless given.
      report: called with the numbers of finished images and of all images.

    Returns:
      the path of the ``.npz`` file.

    Raises:
      ValueError: if the folder holds other files with these names.
    """
    return make_data(
        plan,
        versions(),
        partial(_prepare, plan),
        folder,
        runs_per_part=_IMAGES_PER_PART,
        compressed=False,
        num_workers=num_workers,
        report=report,
    )


def draw_images(requests: Sequence[Request]) -> np.ndarray:
    """Return the images, uint8 ``(images, size, size, 1)``."""
    # Matrix products are small here, and their last digits may depend on the number of threads.
    with threadpool_limits(1):
        return np.stack(
            [draw_image(np.random.default_rng(stream), *rest) for stream, *rest in requests]
        )


def _prepare(plan: Plan) -> Work:
    return Work(list_requests(plan), _draw_part, partial(_collect, plan))


def _draw_part(requests: Sequence[Request]) -> Arrays:
    return {"images": draw_images(requests)}


def _collect(plan: Plan, whole: Arrays) -> tuple[Arrays, dict[str, dict[str, float]]]:
    counts = draw_counts(plan)
    images = np.split(whole["images"], np.cumsum([len(some) for some in counts.values()])[:-1])
    arrays = {f"{split}_images": some for split, some in zip(counts, images, strict=True)}
    arrays |= {f"{split}_counts": some for split, some in counts.items()}
    found = mean_intensity(whole["images"], np.concatenate([*counts.values()]))
    return arrays, {"mean_intensity": found}


def mean_intensity(images: np.ndarray, counts: np.ndarray) -> dict[str, float]:
    """Return the mean pixel of images with 1 to 50 nuclei, 51 to 100, and so on."""
    pixels = images.reshape(len(images), -1).mean(1)
    groups = (counts - 1) // _COUNTS_PER_GROUP
    return {
        f"{group * _COUNTS_PER_GROUP + 1}-{(group + 1) * _COUNTS_PER_GROUP}": float(
            pixels[groups == group].mean()
        )
        for group in np.unique(groups).tolist()
    }
