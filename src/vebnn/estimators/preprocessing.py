"""Units: original → standardised once on input, and back once on output.

Also sample weights, known measurement errors and the padding of sequences.
"""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array

from vebnn.networks.network import BYTE_CENTRE, BYTE_SCALE

_LARGEST = 1e140  # its square, times the number of rows, is finite
_LEAST_WEIGHT = 1e-30


def is_bytes(x: Any) -> bool:
    """Return whether inputs are images of bytes, ``(rows, height, width, channels)``."""
    return getattr(x, "dtype", None) == np.uint8 and np.ndim(x) == 4


class Standardiser(NamedTuple):
    """Shift and scale per feature (last axis), learned from the training rows alone."""

    centre: np.ndarray
    scale: np.ndarray

    @classmethod
    def learn(cls, values: np.ndarray, weight: np.ndarray | None = None) -> "Standardiser":
        """Learn mean and standard deviation over all axes but the last; a constant keeps scale 1.

        Args:
          values: ``(rows, ..., features)``.
          weight: one for each row, ``(rows,)``, or for more of the axes; values of weight zero are
            ignored.
        """
        axes = tuple(range(values.ndim - 1))
        weight = np.ones(len(values)) if weight is None else weight
        weight = weight.reshape(weight.shape + (1,) * (values.ndim - weight.ndim))
        weight = weight * np.ones_like(values)
        values = np.where(weight > 0, values, 0)
        total = weight.sum(axes)
        centre = (weight * values).sum(axes) / total
        spread = np.sqrt((weight * (values - centre) ** 2).sum(axes) / total)
        lowest, highest = (
            extreme(np.where(weight > 0, values, other), axis=axes)
            for extreme, other in ((np.min, np.inf), (np.max, -np.inf))
        )
        # A spread at the level of rounding errors counts as constant. Many equal values exceed that
        # level, because the error of their mean grows with their number.
        constant = (spread <= 10 * np.finfo(float).eps * np.abs(centre)) | (lowest == highest)
        return cls(centre, np.where(constant, 1.0, spread))

    @classmethod
    def of_bytes(cls, num_channels: int) -> "Standardiser":
        """Return the units of bytes, the same for all images."""
        one = np.ones(num_channels)
        return cls(BYTE_CENTRE * one, BYTE_SCALE * one)

    def standardise(self, values: np.ndarray) -> np.ndarray:
        """Original units → standardised units."""
        return (values - self.centre) / self.scale

    def restore(self, values: np.ndarray) -> np.ndarray:
        """Standardised units → original units."""
        return values * self.scale + self.centre


def require_moderate(name: str, values: np.ndarray) -> None:
    """Refuse numbers whose squares double precision cannot hold, and differences that vanish.

    Args:
      name: of the argument.
      values: ``(rows, ..., features)``; NaN is ignored.
    """
    flat = values.reshape(-1, values.shape[-1]).astype(float)
    with np.errstate(invalid="ignore", over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all NaN
        largest = np.nanmax(np.abs(flat), axis=0, initial=0)
        ranges = np.nanmax(flat, axis=0) - np.nanmin(flat, axis=0)
    wrong = (largest > _LARGEST) | ((ranges > 0) & (ranges < 1 / _LARGEST))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(
            f"The `{name}` must hold numbers up to {_LARGEST:g} that differ by {1 / _LARGEST:g} or "
            f"more. Got up to {largest[at]:g} and differences up to {ranges[at]:g} in column {at}; use "
            f"other units."
        )


def entry_weight(sample_weight: Any, target: np.ndarray) -> np.ndarray:
    """Return the weight of each entry of the targets; NaN has weight zero.

    Args:
      sample_weight: ``(rows,)``, ``(rows, time)`` or like ``target``; None for all ones.
      target: ``(rows, ..., outputs)``.
    """
    shape = target.shape
    observed = ~np.isnan(target)
    if not observed.any(axis=tuple(range(target.ndim - 1))).all():
        raise ValueError("Every output of `y` needs at least one number. Got one that is all NaN.")
    if sample_weight is None:
        return observed.astype(float)
    weight = check_array(
        sample_weight, ensure_2d=False, allow_nd=True, dtype=float, input_name="sample_weight"
    )
    if weight.shape != shape[: max(weight.ndim, 1)]:
        also = f", {shape[:-1]} or {shape}" if len(shape) > 2 else ""
        raise ValueError(
            f"The shape of `sample_weight` must be ({shape[0]},){also}. Got {weight.shape}."
        )
    weight = weight.reshape(weight.shape + (1,) * (len(shape) - weight.ndim)) * observed
    if weight.min() < 0 or not weight.any(axis=tuple(range(target.ndim - 1))).all():
        raise ValueError("The `sample_weight` must be non-negative, and not all zero.")
    positive = weight[weight > 0]
    if positive.min() < _LEAST_WEIGHT or positive.max() > 1 / _LEAST_WEIGHT:
        raise ValueError(
            f"The `sample_weight` must be zero, or between {_LEAST_WEIGHT:g} and "
            f"{1 / _LEAST_WEIGHT:g}, as single precision can hold. Got {positive.min():g} to "
            f"{positive.max():g}; a weight says how often a row counts."
        )
    return weight


def input_weight(weight: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the weight of inputs: ``(rows,)``, for sequences ``(rows, time)``.

    A step of a sequence has a weight if a target has one there or later; later steps are padding, of
    weight zero.

    Args:
      weight: of the targets, ``(rows, ..., outputs)``.
      x: ``(rows, ..., features)``.

    Raises:
      ValueError: if an input of positive weight is NaN.
    """
    if weight.ndim == x.ndim == 3 and weight.shape[1] == x.shape[1]:
        by_step = weight.max(-1)
        found = np.maximum.accumulate(by_step[:, ::-1], axis=1)[:, ::-1]
    else:
        found = weight.max(axis=tuple(range(1, weight.ndim)))
    gaps = np.isnan(x).any(axis=tuple(range(found.ndim, x.ndim))) & (found > 0)
    if gaps.any():
        place = ", ".join(map(str, np.argwhere(gaps)[0]))
        raise ValueError(
            f"The `X` of sequences or images may hold NaN only in the padding at the end of a "
            f"sequence, after its last target. Got NaN in X[{place}]."
        )
    return found


def end_of_sequences(x: np.ndarray) -> np.ndarray:
    """Return which steps of new sequences are padding, ``(rows, time)``: all NaN, to the end.

    Raises:
      ValueError: if there is NaN elsewhere.
    """
    missing = np.isnan(x)
    padding = np.logical_and.accumulate(missing.all(-1)[:, ::-1], axis=1)[:, ::-1]
    gaps = missing.any(-1) & ~padding
    if gaps.any():
        row, step = np.argwhere(gaps)[0]
        raise ValueError(
            f"The `X` may hold NaN only as padding: in all features of a step, and of every later one. "
            f"Got NaN in X[{row}, {step}]."
        )
    return padding


def pad_sequences(sequences: Sequence[Any]) -> np.ndarray:
    """Put sequences of unequal length into one array ``(rows, time, features)``, padded with NaN.

    Args:
      sequences: arrays ``(time, features)``, or ``(time,)`` for one feature.

    Example:
      >>> model.fit(pad_sequences(load_histories), pad_sequences(responses))
    """
    arrays = [np.asarray(sequence, float) for sequence in sequences]
    arrays = [array[:, None] if array.ndim == 1 else array for array in arrays]
    if not arrays or any(array.ndim != 2 for array in arrays):
        shapes = [array.shape for array in arrays]
        raise ValueError(
            f"The `sequences` must be arrays of shape (time, features), at least one. Got {shapes}."
        )
    if len({array.shape[1] for array in arrays}) > 1:
        counts = sorted({array.shape[1] for array in arrays})
        raise ValueError(f"The `sequences` must all have the same features. Got {counts} of them.")
    padded = np.full((len(arrays), max(map(len, arrays)), arrays[0].shape[1]), np.nan)
    for row, array in zip(padded, arrays, strict=True):
        row[: len(array)] = array
    return padded


def with_changes(X: Any, start: Any = 0.0) -> np.ndarray:
    """Append to the features of every step of sequences their change since the step before.

    A network then sees the direction of a path at once. Where the answer depends on it, as in materials
    that flow, this saves a recurrent network much of what it would have to learn.

    Args:
      X: ``(rows, time, features)``; padding, which is NaN, stays NaN.
      start: features before the first step, one number or one for each.

    Example:
      >>> model.fit(with_changes(strains), stresses)
      >>> model.predict(with_changes(new_strains))
    """
    sequences = np.asarray(X, float)
    if sequences.ndim != 3:
        raise ValueError(
            f"The `X` must be sequences of shape (rows, time, features). Got shape {sequences.shape}; "
            f"for one feature take X[..., None], for unequal lengths pad_sequences first."
        )
    rows, _, features = sequences.shape
    if np.shape(start) not in ((), (features,)):
        raise ValueError(
            f"The `start` must be one number, or one for each of the {features} features. Got shape "
            f"{np.shape(start)}."
        )
    before = np.broadcast_to(np.asarray(start, float), (rows, 1, features))
    return np.concatenate([sequences, np.diff(sequences, axis=1, prepend=before)], axis=-1)


def known_std(y_std: Any, shape: tuple[int, ...], counts: np.ndarray | None = None) -> np.ndarray:
    """Return measurement errors in the user's units, one for every entry of the targets.

    Args:
      y_std: one number for all, ``(rows,)``, or like the targets.
      shape: of the targets.
      counts: which targets have a weight; the error of the others may be NaN.
    """
    wanted = (
        f"The `y_std` must be a non-negative, finite standard deviation: one number, one for each of "
        f"the {shape[0]} rows, or one for each entry of y."
    )
    try:
        known = np.asarray(y_std, float)
    except (TypeError, ValueError):
        raise ValueError(f"{wanted} Got {str(y_std)[:60]!r}, which is not numbers.") from None
    alike = shape[-1] == 1 and known.shape == shape[:-1]
    if not (known.ndim == 0 or known.shape in (shape, shape[:1]) or alike):
        raise ValueError(f"{wanted} Got shape {known.shape}.")
    known = np.broadcast_to(known.reshape(known.shape + (1,) * (len(shape) - known.ndim)), shape)
    if counts is not None:
        known = np.where(np.isnan(known) & ~counts, 0, known)
    if (wrong := ~((known >= 0) & (known < np.inf))).any():
        place = "" if np.ndim(y_std) == 0 else f" in row {int(np.argwhere(wrong)[0][0])}"
        raise ValueError(f"{wanted} Got {known[wrong][0]:g}{place}.")
    return known
