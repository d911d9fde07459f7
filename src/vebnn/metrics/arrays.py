"""Arrays that fit together, or a sentence that says which one does not."""

import numpy as np


def matched(**arrays: np.ndarray) -> list[np.ndarray]:
    """Return the arrays in double precision, in order, if they have one shape and no NaN.

    Raises:
      ValueError: if a shape differs from the first one's, or an array is empty or holds NaN.
    """
    found = [numbers(name, array) for name, array in arrays.items()]
    (first, *others), shape = arrays, found[0].shape
    for name, array in zip(others, found[1:], strict=True):
        if array.shape != shape:
            raise ValueError(
                f"The `{name}` must have the shape of the `{first}`, {shape}. Got {array.shape}."
            )
    return found


def numbers(name: str, array: np.ndarray) -> np.ndarray:
    """Return an array in double precision; NaN would be counted as a miss or spoil a rank unseen."""
    found = np.asarray(array, float)
    if found.ndim == 0 or found.size == 0:
        raise ValueError(f"The `{name}` must have at least one row. Got shape {found.shape}.")
    if missing := np.isnan(found).sum():
        raise ValueError(
            f"The `{name}` must not hold NaN. Got {missing} among {found.size}; leave those rows out."
        )
    return found


def require_positive(name: str, array: np.ndarray) -> None:
    """Refuse variances and scales that are zero or negative somewhere."""
    if array.min() <= 0:
        raise ValueError(
            f"The `{name}` must be positive everywhere. Got {array.min():g} at least once."
        )


def require_not_negative(name: str, array: np.ndarray) -> None:
    """Refuse standard deviations that are negative somewhere."""
    if array.min() < 0:
        raise ValueError(f"The `{name}` must not be negative. Got {array.min():g} at least once.")


def by_output(array: np.ndarray) -> np.ndarray:
    """Return ``(entries, outputs)`` from ``(rows,)`` or ``(rows, ..., outputs)``."""
    return array.reshape(-1, 1 if array.ndim == 1 else array.shape[-1])
