"""What a round of Step 2 hands on: the variance network, and rows with their noise."""

from typing import NamedTuple

import numpy as np

from vebnn.core.types import Dataset, NoisyDataset
from vebnn.strategies.cooperative.noise import Noise


class LearnedNoise(NamedTuple):
    """The variance network of a round, and the noise of the training rows."""

    noise: Noise
    variance: np.ndarray  # the aleatoric variance of each training target
    data: NoisyDataset  # training rows with the noise that Step 3 takes as given
    unweighted: NoisyDataset  # the same, or without the weights of Student-t noise, for scores
    held_out: NoisyDataset | None  # held-out rows with such noise, to stop early on

    @property
    def typical_std(self) -> float:
        """Root mean aleatoric variance of the training targets."""
        return float(np.sqrt(np.average(self.variance, weights=self.data.weight)))


def with_noise(data: Dataset, learned: np.ndarray) -> NoisyDataset:
    """Return rows with all of their noise: what was learned, and what is known."""
    return NoisyDataset(data.x, data.target, data.weight, learned + data.known_variance)
