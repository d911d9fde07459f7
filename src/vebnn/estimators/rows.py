"""The user's arrays and their standardised form: checks, units, padding."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
import pandas
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from vebnn.core.forks import refuse_after_fork
from vebnn.core.groups import labelled_groups, number_groups
from vebnn.core.types import Dataset
from vebnn.estimators.gaps import Gaps, refuse_gaps
from vebnn.estimators.preprocessing import (
    Standardiser,
    end_of_sequences,
    input_weight,
    is_bytes,
    known_std,
    require_moderate,
)
from vebnn.estimators.target_kinds import Kinds, require_possible, transform, transformed_std
from vebnn.networks import MLP

# With fewer distinct inputs, a network that has not seen one of them knows nothing of their effect:
# rows are then split one by one, also where inputs repeat.
FEWEST_INPUTS = 3


class ArrayChecks(BaseEstimator):
    """The part of an estimator that checks and standardises arrays."""

    network: Any
    in_shape_: tuple[int, ...]
    one_output_: bool
    gaps_: Gaps | None  # None for sequences, images and networks of the user's own
    x_units_: Standardiser
    y_units_: Standardiser
    target_kinds_: Kinds
    fitted_: Any
    calibration_: Any

    @property
    def _many_axes(self) -> bool:
        """Whether the network may take more than rows of features, such as sequences."""
        return self.network is not None and not isinstance(self.network, MLP)

    def _rows(self, X: Any, y: Any, *, reset: bool) -> tuple[np.ndarray, np.ndarray]:
        """Check inputs and targets; only some networks have sequences of targets."""
        refuse_after_fork()
        # Sums over rows depend on the order in memory: the same numbers must give the same model.
        X, y = map(np.ascontiguousarray, self._arrays(X, y, reset=reset))
        if reset:
            if not is_bytes(X):
                require_moderate("X", X)
            require_moderate("y", y[:, None] if y.ndim == 1 else y)
        return X, y

    def _arrays(self, X: Any, y: Any, *, reset: bool) -> tuple[np.ndarray, np.ndarray]:
        if not self._many_axes:
            return validate_data(
                self,
                X,
                y,
                reset=reset,
                multi_output=True,
                y_numeric=True,
                dtype=float,
                ensure_all_finite="allow-nan",
            )
        X = validate_data(self, X, reset=reset, **self._checks_of_inputs(X))
        if X.ndim < 3:
            refuse_gaps(X)
        y = check_array(
            y,
            dtype=float,
            allow_nd=True,
            ensure_2d=False,
            ensure_all_finite="allow-nan",
            input_name="y",
        )
        check_consistent_length(X, y)
        if reset:
            self.n_features_in_ = X.shape[-1]
        else:
            self._check_shape(X)
        return X, y

    def _inputs(self, X: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Return standardised inputs, and a mask of their padding, if any."""
        refuse_after_fork()
        check_is_fitted(self)
        table = {"dtype": float, "ensure_all_finite": "allow-nan"}
        checks = self._checks_of_inputs(X) if self._many_axes else table
        X = validate_data(self, X, reset=False, **checks)
        self._check_shape(X)
        padding = None
        if is_bytes(X):
            return X, padding
        if self.gaps_ is not None:
            X = self.gaps_.fill(X)
        elif X.ndim < 3:
            refuse_gaps(X)
        elif np.isnan(X).any():
            steps = self.fitted_.probe.shape[3:-1]
            if len(steps) != 1 or X.ndim != 3:
                raise ValueError("The `X` must not hold NaN: only sequences may be padded with it.")
            padding = end_of_sequences(X)
            X = np.where(padding[..., None], self.x_units_.centre, X)
        return self.x_units_.standardise(X).astype(np.float32), padding

    @staticmethod
    def _checks_of_inputs(X: Any) -> dict[str, Any]:
        # scikit-learn takes the second axis for features; beyond tables we check shapes ourselves.
        return {
            "dtype": np.uint8 if is_bytes(X) else float,
            "allow_nd": True,
            "ensure_2d": np.ndim(X) < 3,
            "ensure_all_finite": "allow-nan",
        }

    def _learn_gaps(self, X: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Learn what stands for missing values of a table; return it with them filled."""
        self.gaps_ = None if self._many_axes else Gaps.learn(X, counts)
        if self.gaps_ is None:
            return X
        # Rows without a weight are left out later: what is missing there is of no interest.
        return self.gaps_.fill(X if counts.all() else np.where(counts[:, None], X, self.gaps_.medians))

    def _check_shape(self, X: np.ndarray) -> None:
        as_before = X.shape[1:] == self.in_shape_
        if getattr(self.network, "any_length", False):
            as_before = X.ndim == 3 and X.shape[-1] == self.in_shape_[-1]
        if not as_before:
            wanted = ", ".join(map(str, self.in_shape_))
            raise ValueError(f"The `X` must have shape (rows, {wanted}), as in fit. Got {X.shape}.")

    def _dataset(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, y_std: Any) -> Dataset:
        """Standardise rows; the padding of sequences becomes zero."""
        target = self._columns(y)
        counts = weight > 0
        known = np.zeros_like(target)
        if y_std is not None:
            known = known + (known_std(y_std, target.shape, counts) / self.y_units_.scale) ** 2
        target = np.where(counts, self.y_units_.standardise(target), 0)
        others = (array.astype(np.float32) for array in (target, weight, known))
        if is_bytes(X):
            # They stay bytes: the compiled step standardises them.
            return Dataset(X, *others)
        x, used = self.x_units_.standardise(X), input_weight(weight, X) > 0
        if used.ndim == 2:
            x = np.where(used[..., None], x, 0)
        return Dataset(x.astype(np.float32), *others)

    def _transform(
        self, name: str, y: np.ndarray, y_std: Any = None, weight: np.ndarray | None = None
    ) -> tuple[np.ndarray, Any]:
        """Check targets; return them and their measurement errors on the scale that is learned."""
        columns, kinds = self._columns(y), self.target_kinds_
        require_possible(name, columns, kinds)
        if y_std is not None:
            std = known_std(y_std, columns.shape, None if weight is None else weight > 0)
            y_std = transformed_std(columns, std, kinds)
        return self._like_y(transform(columns, kinds)), y_std

    def _columns(self, y: np.ndarray) -> np.ndarray:
        return y[:, None] if self.one_output_ else y

    def _like_y(self, values: np.ndarray) -> np.ndarray:
        return values[..., 0] if self.one_output_ else values


@contextmanager
def all_at_once(model: Any) -> Iterator[Any]:
    """Yield a copy to fit; on success, the model takes its attributes in one step.

    Old networks with new units would predict nonsense, after a failed fit or in another thread.
    """
    new = snapshot(model)
    yield new
    model.__dict__ = vars(new)


def snapshot(model: Any) -> Any:
    """Return a model with the same attributes, which a later fit does not change."""
    same = object.__new__(type(model))
    same.__dict__ = vars(model).copy()
    return same


def rows_that_count(data: Dataset) -> Dataset:
    """Leave out rows of weight zero: a fold or a validation set of them alone has no score."""
    counts = has_weight(data.weight)
    return data if counts.all() else jax.tree.map(lambda leaf: leaf[counts], data)


def has_weight(weight: np.ndarray) -> np.ndarray:
    """Return for each row whether any of its entries has a weight."""
    return np.any(weight, axis=tuple(range(1, weight.ndim)))


def groups_that_count(groups: Any, X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the group of each row of positive weight; see :func:`vebnn.core.groups.labelled_groups`.

    Args:
      groups: the user's labels, one for each row, or None.
      X: ``(rows, ..., features)``; the padding of sequences does not count.
      weight: of the targets, ``(rows, ..., outputs)``.
    """
    counts, inputs = has_weight(weight), X
    if not is_bytes(X):
        used = input_weight(weight, X) > 0
        inputs = np.where(used.reshape(used.shape + (1,) * (X.ndim - used.ndim)), X, 0)
    inputs = inputs if counts.all() else inputs[counts]
    if groups is None:
        same = number_groups(inputs)
        return same if same.max() + 1 >= FEWEST_INPUTS else np.arange(len(same))
    labels = np.asarray(groups, object)
    if labels.shape != X.shape[:1]:
        raise ValueError(
            f"The `groups` must have one label for each of the {len(X)} rows. Got shape {labels.shape}."
        )
    if (missing := pandas.isna(labels)).any():
        row = int(np.argmax(missing))
        raise ValueError(
            f"The `groups` must have a label for every row. Got {labels[row]} in row {row}; give it a "
            f"label of its own if it belongs to no group."
        )
    found, _ = labelled_groups(inputs, labels[counts])
    if len(found) > 1 and not found.any():
        raise ValueError(
            f"The `groups` and repeated inputs must leave at least two groups, to train on one and "
            f"validate on another. Got all {len(found)} rows in one; leave `groups` out."
        )
    return found


def blank_padding(values: np.ndarray, padding: np.ndarray | None) -> np.ndarray:
    """Return values ``(..., rows, time, outputs)`` in double precision, NaN where there is padding."""
    values = values.astype(float)
    return values if padding is None else np.where(padding[..., None], np.nan, values)


def require_shape(name: str, values: np.ndarray, shape: tuple[int, ...]) -> None:
    """Refuse held-out rows of another shape than those of the fit."""
    if values.shape[1:] != shape:
        raise ValueError(
            f"The `{name}` must have the shape of {name[0]} but for the rows, {shape}. "
            f"Got {values.shape[1:]}."
        )
