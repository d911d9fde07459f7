"""Which targets the training pictures of a set with a gap or without its tails have."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vebnn.datasets.images.conversion import Part, Parts
from vebnn.datasets.images.types import ImageDataset, Images

BLOCK = 1024  # pictures


class Shift(NamedTuple):
    """The targets of training and validation pictures; test pictures may have others."""

    inside: Callable[[np.ndarray], np.ndarray]  # y → bool

    def outside(self, y: np.ndarray) -> np.ndarray:
        """Return which targets are outside the training distribution."""
        return ~self.inside(y)


# The ranges are those of Gustafsson et al. (2023), also where their ends are not symmetric.
CELLS_GAP = Shift(lambda y: (y < 50) | (y >= 150))
CELLS_TAIL = Shift(lambda y: (y > 50) & (y < 151))
CHAIR_GAP = Shift(lambda y: (y < 30) | (y > 60))
CHAIR_TAIL = Shift(lambda y: (y > 15) & (y < 75))
ANOTHER_SOURCE = Shift(lambda y: np.zeros(len(y), bool))  # every test picture is from elsewhere


def mark_shifted(parts: Parts, shift: Shift | None) -> Parts:
    """Mark the test pictures that are outside the training distribution; nothing without a shift."""
    if shift is None:
        return parts
    return parts._replace(test=parts.test._replace(shifted=shift.outside(parts.test.y)))


def keep_inside(base: ImageDataset, shift: Shift) -> Parts:
    """Return a base set without the training and validation pictures outside; the test set stays."""
    train, validation = (_part(part, shift.inside(part.y)) for part in (base.train, base.validation))
    test = _part(base.test, np.ones(len(base.test.y), bool))
    return mark_shifted(Parts(train, validation, test), shift)


def _part(images: Images, kept: np.ndarray) -> Part:
    rows = np.flatnonzero(kept)
    starts = range(0, len(rows), BLOCK)
    return Part((images.x[rows[start : start + BLOCK]] for start in starts), images.y[rows])
