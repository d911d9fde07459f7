"""The distribution of a linear function of a target."""

from dataclasses import replace

import numpy as np

from vebnn.prediction.components import Components
from vebnn.prediction.prediction import Prediction


def rescaled(prediction: Prediction, factor: np.ndarray, shift: np.ndarray) -> Prediction:
    """Return the prediction of factor · y + shift, from that of a real target y: exact.

    Args:
      prediction: of y.
      factor: () or ``(outputs,)``, not zero.
      shift: like the factor.
    """

    def load_components() -> Components:
        mean, variance, weight = prediction.components
        return Components(factor * mean + shift, factor**2 * variance, weight)

    return replace(
        prediction,
        mean=factor * prediction.mean + shift,
        aleatoric_variance=factor**2 * prediction.aleatoric_variance,
        epistemic_variance=factor**2 * prediction.epistemic_variance,
        load_components=load_components,
    )
