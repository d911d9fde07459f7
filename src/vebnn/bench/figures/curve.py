"""A predicted curve with its aleatoric and epistemic bands."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from vebnn.plots.style import BLACK, BLUE, ORANGE, TWO_SIDED_95
from vebnn.prediction import Prediction


class Curve(NamedTuple):
    """A prediction along a line, in original units."""

    mean: np.ndarray
    aleatoric_std: np.ndarray
    epistemic_std: np.ndarray

    @classmethod
    def of(cls, prediction: Prediction, at: Any = ...) -> "Curve":
        """Return the part of a prediction that the index ``at`` selects."""
        return cls(prediction.mean[at], prediction.aleatoric_std[at], prediction.epistemic_std[at])

    @classmethod
    def from_lists(cls, lists: Mapping[str, Sequence[float]]) -> "Curve":
        """Return the curve of a row of results."""
        return cls(*(np.asarray(lists[name]) for name in cls._fields))

    def as_lists(self) -> dict[str, list[float]]:
        """Return the curve for a row of results, with four digits."""
        return {
            name: [float(f"{value:.4g}") for value in part] for name, part in self._asdict().items()
        }


def draw_curve(axes: Axes, x: np.ndarray, curve: Curve) -> None:
    """Draw the mean and its 95 % bands."""
    bands = (
        (curve.aleatoric_std, ORANGE, 0.3, "aleatoric, 95 %"),
        (curve.epistemic_std, BLUE, 0.33, "epistemic, 95 %"),
    )
    for std, colour, alpha, label in bands:
        low, high = curve.mean - TWO_SIDED_95 * std, curve.mean + TWO_SIDED_95 * std
        axes.fill_between(x, low, high, color=colour, alpha=alpha, linewidth=0, label=label)
    axes.plot(x, curve.mean, color=BLUE, linewidth=1.8, label="mean")


def draw_truth(axes: Axes, x: np.ndarray, mean: np.ndarray, noise_std: np.ndarray) -> None:
    """Draw the true mean, and the edges of the 95 % band of the true noise."""
    axes.plot(x, mean, color=BLACK, linewidth=1.0, linestyle=(0, (4, 2)), zorder=4, label="truth")
    for sign, name in ((-1, None), (1, "true noise, 95 %")):
        edge = mean + sign * TWO_SIDED_95 * noise_std
        axes.plot(x, edge, color="#9A5B00", linewidth=0.9, linestyle=(0, (1, 1.5)), label=name)
