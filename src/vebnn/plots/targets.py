"""One target of a prediction, and what was observed of it."""

from typing import Any, NamedTuple

import numpy as np

from vebnn.core.arguments import target_position
from vebnn.prediction import Prediction


class Target(NamedTuple):
    """One target: its name, and its part of a prediction, each ``(rows, ...)``."""

    name: str
    mean: np.ndarray
    aleatoric_std: np.ndarray
    epistemic_std: np.ndarray
    at: int | None  # its place on the last axis, None if there is no such axis

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return the part of an array with the shape of the prediction."""
        return values if self.at is None else values[..., self.at]

    def interval(self, prediction: Prediction, level: float = 0.95) -> list[np.ndarray]:
        """Return both ends of its interval for a new observation."""
        return [self.of(end) for end in prediction.interval(level)]


def target_of(prediction: Any, target: str | int | None, y: Any = None) -> Target:
    """Return a target by name or number; ``y`` may have a name that the prediction has not.

    Raises:
      ValueError: if there is no such target, or if the prediction is none.
    """
    if not isinstance(prediction, Prediction):
        raise ValueError(
            f"The `prediction` must be one of predict_distribution. Got {type(prediction).__name__}; "
            f"use model.predict_distribution(X)."
        )
    one = prediction.mean.ndim == 1
    names = prediction.target_names
    at = target_position(target, names, 1 if one else prediction.mean.shape[-1])
    if names is not None:
        name = names[at]
    else:
        own = getattr(y, "name", None)
        name = str(own) if own is not None else "y" if one else f"y{at}"
    whole = (prediction.mean, prediction.aleatoric_std, prediction.epistemic_std)
    mean, aleatoric, epistemic = (part if one else part[..., at] for part in whole)
    return Target(name, mean, aleatoric, epistemic, None if one else at)


def observed(y: Any, prediction: Prediction, target: Target) -> np.ndarray:
    """Return the observations of a target, ``(rows, ...)``.

    Raises:
      ValueError: if they have not the shape of the prediction.
    """
    values = np.asarray(y, float)
    if values.shape != prediction.mean.shape:
        raise ValueError(
            f"The `y` must have the shape of the prediction, {prediction.mean.shape}. "
            f"Got {values.shape}."
        )
    return target.of(values)
