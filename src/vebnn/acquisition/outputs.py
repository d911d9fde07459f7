"""Selection of the outputs of a prediction that a score uses."""

from numbers import Integral
from typing import NamedTuple

import numpy as np

from vebnn.prediction import Prediction

Output = int | str | None  # number or name of one output; None for all


class Columns(NamedTuple):
    """Moments of a prediction, ``(rows, columns)`` each: one column per output and time step."""

    mean: np.ndarray
    aleatoric_variance: np.ndarray
    epistemic_variance: np.ndarray


def columns_of(prediction: Prediction, output: Output = None) -> Columns:
    """Return the moments of one output, or of all.

    Raises:
      ValueError: if there is no such output.
    """
    moments = (prediction.mean, prediction.aleatoric_variance, prediction.epistemic_variance)
    return Columns(
        *(_select(prediction, moment, output).reshape(len(prediction), -1) for moment in moments)
    )


def draws_of(prediction: Prediction, output: Output = None) -> np.ndarray:
    """Return the draws of one output, or of all, ``(draws, rows, columns)``."""
    draws = _select(prediction, prediction.draws, output)
    return draws.reshape(*draws.shape[:2], -1)


def _select(prediction: Prediction, values: np.ndarray, output: Output) -> np.ndarray:
    """Return the values of an output, which is the last axis if there are several."""
    values = np.asarray(values, float)
    if output is None:
        return values
    names = prediction.target_names or ()
    number = names.index(output) if output in names else output
    several = prediction.mean.ndim > 1
    available = prediction.mean.shape[-1] if several else 1
    whole = isinstance(number, Integral) and not isinstance(number, bool)
    if not (whole and 0 <= int(number) < available):
        known = f" or one of {', '.join(map(repr, names))}" if names else ""
        raise ValueError(f"The `output` must be in 0, …, {available - 1}{known}. Got {output!r}.")
    return values[..., int(number)] if several else values
