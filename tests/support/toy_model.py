"""A model of the one-dimensional example whose mean, noise and epistemic std a test chooses."""

from collections.abc import Callable

import numpy as np

from vebnn.datasets.toy import true_mean, true_noise_std
from vebnn.prediction import Prediction


class ToyModel:
    def __init__(
        self,
        shift: float = 0.0,
        noise_factor: float = 1.0,
        ignorance: Callable[[np.ndarray], np.ndarray] = np.zeros_like,
    ) -> None:
        self.shift, self.noise_factor, self.ignorance = shift, noise_factor, ignorance

    def predict_distribution(self, X: np.ndarray) -> Prediction:
        x = X[:, 0]
        return Prediction(
            mean=true_mean(x) + self.shift,
            aleatoric_variance=(self.noise_factor * true_noise_std(x)) ** 2,
            epistemic_variance=self.ignorance(x) ** 2,
            load_components=lambda: None,
        )
