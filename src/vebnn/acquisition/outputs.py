"""Which output of a prediction a score is about."""

from numbers import Integral
from typing import NamedTuple

import numpy as np

from vebnn.prediction import Prediction

Output = int | str | None


class Columns(NamedTuple):
    """A prediction as tables: one row per candidate, one column per output (and time step)."""

    mean: np.ndarray
    aleatoric_variance: np.ndarray
    epistemic_variance: np.ndarray


def columns_of(prediction: Prediction, output: Output = None) -> Columns:
    """Return the moments of one output, or of all, each ``(rows, columns)``.

    Args:
      prediction: of some rows.
      output: the number or the name of an output; all of them by default.

    Raises:
      ValueError: if there is no such output.
    """
    parts = (prediction.mean, prediction.aleatoric_variance, prediction.epistemic_variance)
    mean, aleatoric, epistemic = (
        _taken(prediction, part, output).reshape(len(prediction), -1) for part in parts
    )
    return Columns(mean, aleatoric, epistemic)


def draws_of(prediction: Prediction, output: Output = None) -> np.ndarray:
    """Return the draws of one output, or of all, ``(draws, rows, columns)``."""
    draws = _taken(prediction, prediction.draws, output)
    return draws.reshape(*draws.shape[:2], -1)


def require_one_column(columns: Columns, purpose: str) -> None:
    """Refuse several outputs where a sum of them means nothing.

    Raises:
      ValueError: if there are several outputs, or sequences of one.
    """
    found = columns.mean.shape[1]
    if found != 1:
        raise ValueError(
            f"The {purpose} is about one number per row. Got {found}; choose one with `output`, such "
            f"as output=0, or take a time step first."
        )


def _taken(prediction: Prediction, values: np.ndarray, output: Output) -> np.ndarray:
    """Return what belongs to an output, which is the last axis of several."""
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
