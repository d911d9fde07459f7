"""Targets that scikit-learn has transformed: their distribution, back in the units of y."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from vebnn.prediction import BackTransformed, Prediction, in_user_units, rescaled
from vebnn.prediction.targets import Increasing

REACH = 12.0  # stds beyond the means; quadrature looks no further
NUM_POINTS = 65
LINEAR = 1e-9  # largest departure from a straight line, relative to its range
STEP = 1e-4  # of the smallest std, for slopes


class _Outputs(NamedTuple):
    """The functions of a transformer, one output at a time."""

    transformer: Any
    z: np.ndarray  # (outputs,): typical values, those of the other outputs when one is changed
    y: np.ndarray  # (outputs,): the same, transformed back

    @classmethod
    def of(cls, transformer: Any, z: np.ndarray) -> "_Outputs":
        return cls(transformer, z, np.asarray(transformer.inverse_transform(z[None]), float)[0])

    def back(self, at: int, z: np.ndarray) -> np.ndarray:
        """Return y of one output; NaN where z is not finite."""
        return self._one(self.transformer.inverse_transform, self.z, at, z)

    def forth(self, at: int, y: np.ndarray) -> np.ndarray:
        """Return z of one output; NaN where y is not finite."""
        return self._one(self.transformer.transform, self.y, at, y)

    def _one(self, function: Any, others: np.ndarray, at: int, values: np.ndarray) -> np.ndarray:
        known = np.isfinite(values)  # transformers may refuse other numbers
        found = _all_where(function, others, at, np.where(known, values, others[at]).ravel())
        return np.where(known, found[:, at].reshape(values.shape), np.nan)


def _all_where(function: Any, others: np.ndarray, at: int, values: np.ndarray) -> np.ndarray:
    """Return a function of all outputs, ``(values, outputs)``, where one takes these values."""
    rows = np.tile(others, (len(values), 1))
    rows[:, at] = values
    with np.errstate(all="ignore"):
        return np.asarray(function(rows), float)


class _Line(NamedTuple):
    factor: float
    shift: float


def in_units_of_y(prediction: Prediction, transformer: Any) -> Prediction:
    """Return the distribution of y from that of a fitted transformer's output.

    Raises:
      ValueError: if the transformer mixes outputs, or falls or is not finite somewhere in the range of
        the predictions, or if the prediction is that of a target that is not real.
    """
    if isinstance(prediction.law, BackTransformed):
        raise ValueError(
            'The `target` of an estimator inside TransformedTargetRegressor must be "real". Got '
            "another kind, which transforms y by itself; fit the estimator without "
            "TransformedTargetRegressor."
        )
    if not len(prediction):
        raise ValueError("The `X` must have at least one row. Got none.")
    flat = prediction.mean.reshape(-1, 1 if prediction.mean.ndim == 1 else prediction.mean.shape[-1])
    reach = REACH * prediction.std.reshape(flat.shape)
    outputs = _Outputs.of(transformer, np.median(flat, axis=0))
    grids = np.linspace((flat - reach).min(0), (flat + reach).max(0), NUM_POINTS, axis=1)
    columns = [_checked(outputs, at, grid) for at, grid in enumerate(grids)]
    lines = [_line(grid, column) for grid, column in zip(grids, columns, strict=True)]
    if all(lines):
        parts = np.array(lines).T  # (2, outputs)
        return rescaled(prediction, *(part if prediction.mean.ndim > 1 else part[0] for part in parts))
    smallest = (reach / REACH).min(0)
    kinds = [
        Increasing(
            partial(outputs.forth, at), partial(outputs.back, at), STEP * smallest[at], column[0]
        )
        for at, column in enumerate(columns)
    ]
    for column in columns:
        _require_increasing(column)
    return in_user_units(prediction, tuple(kinds))


def _checked(outputs: _Outputs, at: int, grid: np.ndarray) -> np.ndarray:
    """Return y of one output over its range; refuse transformers that mix outputs."""
    y = _all_where(outputs.transformer.inverse_transform, outputs.z, at, grid)
    others = np.delete(np.arange(len(outputs.y)), at)
    if (y[:, others] != outputs.y[others]).any():
        raise ValueError(
            "The `transformer` must transform each output on its own, because correlations between "
            f"outputs are not predicted. Got {type(outputs.transformer).__name__}, which mixes them."
        )
    return y[:, at]


def _line(z: np.ndarray, y: np.ndarray) -> _Line | None:
    """Return the straight line of these points, if they are on one."""
    factor = (y[-1] - y[0]) / (z[-1] - z[0])
    shift = y[0] - factor * z[0]
    straight = np.abs(factor * z + shift - y).max() <= LINEAR * np.abs(y[-1] - y[0])
    return _Line(factor, shift) if straight and factor != 0 else None


def _require_increasing(y: np.ndarray) -> None:
    if np.isfinite(y).all() and (np.diff(y) >= 0).all() and y[-1] > y[0]:
        return
    found = "falls" if np.isfinite(y).all() else "is not finite"
    raise ValueError(
        f"The inverse of the `transformer` must be finite and increasing within {REACH:g} stds of all "
        f"predictions, or be linear. Got one that {found} there; give the estimator y itself, with "
        f'target="positive" or "fraction" if y has impossible values.'
    )
