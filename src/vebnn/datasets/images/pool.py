"""Pictures that are not split yet: their targets, and a way to read some of them."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from vebnn.datasets.images.conversion import Part


class Pool(NamedTuple):
    """All pictures of a source."""

    y: np.ndarray  # (n,)
    blocks: Callable[[np.ndarray], Iterable[np.ndarray]]  # the pictures of these rows, in this order

    def part(self, rows: np.ndarray) -> Part:
        """Return the split with these rows."""
        return Part(self.blocks(rows), self.y[rows])


def split_off(
    rows: np.ndarray, share: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Shuffle rows, and return those for training and the share for validation."""
    shuffled = rng.permutation(rows)
    end = int((1 - share) * len(rows))
    return shuffled[:end], shuffled[end:]
