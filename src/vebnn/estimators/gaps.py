"""Missing values in tables of features: medians in their place, and a mark beside."""

import warnings
from typing import NamedTuple, Self

import numpy as np


class Gaps(NamedTuple):
    """What stands for missing values, learned from the training rows.

    A feature with missing values in training gets an indicator, a further input of the network: 1 where
    the value is missing, else 0.
    """

    medians: tuple[float, ...]  # of the features
    marked: tuple[int, ...] = ()  # numbers of the features with an indicator

    @classmethod
    def learn(cls, x: np.ndarray, counts: np.ndarray) -> Self:
        """Learn from rows ``(rows, features)``; ``counts`` tells which of them have a weight.

        Raises:
          ValueError: if a feature has no value at all.
        """
        rows = x if counts.all() else x[counts]
        missing = np.isnan(rows)
        if (empty := missing.all(axis=0)).any():
            raise ValueError(
                f"Every feature of `X` needs at least one number. Got NaN in all rows of feature "
                f"{int(np.argmax(empty))}; leave it out."
            )
        marked = tuple(np.flatnonzero(missing.any(axis=0)).tolist())
        return cls(tuple(np.nanmedian(rows, axis=0).tolist()), marked)

    def fill(self, x: np.ndarray) -> np.ndarray:
        """Return rows with medians for missing values, and with the indicators as last columns.

        Values missing where none was in training have no indicator: a warning names the features.
        """
        missing = np.isnan(x)
        if not self.marked and not missing.any():
            return x
        new = np.setdiff1d(np.flatnonzero(missing.any(axis=0)), self.marked)
        if new.size:
            warnings.warn(
                f"The `X` has missing values in features {new.tolist()}, which had none in training. "
                f"They are replaced by the training medians; the error bars do not know of it.",
                stacklevel=2,
            )
        filled = np.where(missing, self.medians, x)
        return np.hstack([filled, missing[:, list(self.marked)].astype(float)])

    def inputs_of(self, feature: int) -> tuple[int, ...]:
        """Return the numbers of the network's inputs that stand for a feature."""
        if feature not in self.marked:
            return (feature,)
        return (feature, len(self.medians) + self.marked.index(feature))


def refuse_gaps(x: np.ndarray) -> None:
    """Refuse missing values in rows of features for a network that may not take indicators."""
    if (rows := np.isnan(x).any(axis=1)).any():
        raise ValueError(
            f"The `X` must not hold NaN for a network of your own, whose number of inputs is fixed. "
            f"Got some in row {int(np.argmax(rows))}; fill them first, as sklearn.impute.SimpleImputer "
            f"does, or use the default network or an MLP."
        )
