"""Selection of the outputs of a prediction that a score uses."""

from numbers import Integral

import numpy as np

from vebnn.prediction import Prediction

Output = int | str | None  # number or name of one output; None for all


def select_output(values: np.ndarray, prediction: Prediction, output: Output = None) -> np.ndarray:
    """Return a moment of a prediction, or its draws, for one output or all.

    The result is ``(..., rows, columns)`` with one column per output and time step.
    """
    values = np.asarray(values, float)
    axes_to_rows = values.ndim - prediction.mean.ndim + 1
    if output is not None:
        names = prediction.target_names or ()
        number = names.index(output) if output in names else output
        several = prediction.mean.ndim > 1
        available = prediction.mean.shape[-1] if several else 1
        whole = isinstance(number, Integral) and not isinstance(number, bool)
        if not (whole and 0 <= int(number) < available):
            known = f" or one of {', '.join(map(repr, names))}" if names else ""
            raise ValueError(f"The `output` must be in 0, …, {available - 1}{known}. Got {output!r}.")
        values = values[..., int(number)] if several else values
    return values.reshape(*values.shape[:axes_to_rows], -1)
