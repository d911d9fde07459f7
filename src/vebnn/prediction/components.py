"""The parts of a predictive mixture."""

from typing import NamedTuple

import numpy as np


class Components(NamedTuple):
    """The Gaussians of a mixture, each ``(draws, modes, *shape)`` or broadcastable to it."""

    mean: np.ndarray
    variance: np.ndarray
    weight: np.ndarray  # sums to one over modes

    @classmethod
    def of_draws(cls, mean: np.ndarray, variance: np.ndarray) -> "Components":
        """Return one mode per draw, from means and variances ``(draws, *shape)``."""
        return cls(mean[:, None], variance[:, None], np.ones((1,) * (mean.ndim + 1)))


class Modes(NamedTuple):
    """Branches that an observation can fall on, ``(modes, *shape)`` each."""

    mean: np.ndarray
    aleatoric_std: np.ndarray
    epistemic_std: np.ndarray
    weight: np.ndarray  # probability of each branch
