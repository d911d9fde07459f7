"""The contract of a predictive distribution, which answers for all rows at once."""

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np

Kind = Literal["gaussian", "mixture"]


class Law(ABC):
    """Abstract: the distribution of new observations; see :class:`vebnn.prediction.Prediction`.

    Observations ``y`` have the shape of the prediction, and ``kind`` is one of :data:`Kind`.
    """

    @property
    @abstractmethod
    def draws(self) -> np.ndarray:
        """The predicted mean of every draw of the network, ``(draws, *shape)``."""

    @abstractmethod
    def quantile(self, levels: np.ndarray, kind: Kind) -> np.ndarray:
        """Return quantiles, ``(*levels.shape, *shape)``."""

    @abstractmethod
    def interval(self, level: float, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the central interval."""

    @abstractmethod
    def noise_interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the central interval if the mean were certain."""

    @abstractmethod
    def mean_interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the central interval of the mean, which is uncertain."""

    @abstractmethod
    def standardised_error(self, y: np.ndarray) -> np.ndarray:
        """Return errors that are N(0, 1) if the prediction is right."""

    @abstractmethod
    def log_prob(self, y: np.ndarray, kind: Kind) -> np.ndarray:
        """Return the log-density, or the log-probability of whole numbers."""

    @abstractmethod
    def cdf(self, y: np.ndarray, kind: Kind) -> np.ndarray:
        """Return the probability of an observation up to ``y``."""

    @abstractmethod
    def sample(self, num_samples: int, kind: Kind, rng: np.random.Generator) -> np.ndarray:
        """Draw observations, ``(num_samples, *shape)``."""
