"""Checks of arrays: shape, NaN, sign."""

import numpy as np


def matched(**arrays: np.ndarray) -> list[np.ndarray]:
    """Return the arrays in double precision, in order, if they have one shape, rows and no NaN."""
    found = {name: numbers(name, array) for name, array in arrays.items()}
    first, shape = next((name, array.shape) for name, array in found.items())
    for name, array in found.items():
        if array.shape != shape:
            raise ValueError(
                f"The `{name}` must have the shape of the `{first}`, {shape}. Got {array.shape}."
            )
    return list(found.values())


def numbers(name: str, array: np.ndarray) -> np.ndarray:
    """Return an array in double precision, if it has rows and no NaN."""
    found = np.asarray(array, float)
    if found.ndim == 0 or found.size == 0:
        raise ValueError(f"The `{name}` must have at least one row. Got shape {found.shape}.")
    if missing := np.isnan(found).sum():
        raise ValueError(
            f"The `{name}` must not hold NaN. Got {missing} among {found.size}; leave those rows out."
        )
    return found


def require_positive(name: str, array: np.ndarray) -> None:
    """Raise ValueError unless all numbers are above 0."""
    if (low := array.min()) <= 0:
        raise ValueError(f"The `{name}` must be positive everywhere. Got {low:g} at least once.")


def require_not_negative(name: str, array: np.ndarray) -> None:
    """Raise ValueError unless all numbers are 0 or above."""
    if (low := array.min()) < 0:
        raise ValueError(f"The `{name}` must not be negative. Got {low:g} at least once.")


def by_output(array: np.ndarray) -> np.ndarray:
    """Return ``(entries, outputs)`` from ``(rows,)`` or ``(rows, ..., outputs)``."""
    return array.reshape(-1, 1 if array.ndim == 1 else array.shape[-1])
