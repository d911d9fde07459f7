"""Quantiles of a mixture."""

from collections.abc import Callable

import numpy as np


def mixture_quantiles(
    levels: np.ndarray,
    cdf: Callable[[np.ndarray], np.ndarray],
    of_components: Callable[[float], np.ndarray],
    shape: tuple[int, ...],
) -> np.ndarray:
    """Bisect a mixture's distribution function; no component's quantile lies further out.

    Args:
      levels: probabilities, with an axis of length one for each axis of ``shape`` at their end.
      cdf: the distribution function, of values of that shape.
      of_components: the quantile of every component at a level, ``(draws, modes, *shape)``.
      shape: of the prediction.
    """
    found = []
    for level in levels.ravel():
        outermost = of_components(level)
        low, high = outermost.min((0, 1)), outermost.max((0, 1))
        for _ in range(60):
            middle = (low + high) / 2
            below = cdf(middle) < level
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        found.append((low + high) / 2)
    return np.reshape(found, levels.shape[: levels.ndim - len(shape)] + shape)
