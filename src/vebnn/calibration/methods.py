"""The three ways by name, and their numbers as JSON."""

import warnings
from dataclasses import asdict
from typing import Any

import numpy as np

from vebnn.calibration.conformal import ConformalScores, UnreachableLevel
from vebnn.calibration.factors import CommonFactor, SeparateFactors

Calibration = CommonFactor | SeparateFactors | ConformalScores

_KINDS: dict[str, type[CommonFactor] | type[SeparateFactors] | type[ConformalScores]] = {
    "common": CommonFactor,
    "separate": SeparateFactors,
    "conformal": ConformalScores,
}
METHODS = tuple(_KINDS)


def learn(
    method: str,
    y: np.ndarray,
    mean: np.ndarray,
    aleatoric_variance: np.ndarray,
    epistemic_variance: np.ndarray,
) -> Calibration:
    """Learn from held-out rows by one of :data:`METHODS`; warns if they are too few for 95 % intervals.

    Raises:
      ValueError: if arrays do not fit, or say nothing about errors.
    """
    learned = _KINDS[method].learn(y, mean, aleatoric_variance, epistemic_variance)
    if isinstance(learned, ConformalScores):
        try:
            learned.multipliers(0.95)
        except UnreachableLevel as error:
            warnings.warn(str(error), stacklevel=3)
    return learned


def name_of(calibration: Calibration) -> str:
    """Return the name of the method."""
    return next(name for name, kind in _KINDS.items() if isinstance(calibration, kind))


def describe(calibration: Calibration | None) -> dict[str, Any] | None:
    """Return method and numbers, for JSON."""
    if calibration is None:
        return None
    return {"method": name_of(calibration), **asdict(calibration)}


def revive(description: dict[str, Any] | None) -> Calibration | None:
    """Return what :func:`describe` described."""
    if description is None:
        return None
    numbers = {name: _tupled(value) for name, value in description.items() if name != "method"}
    return _KINDS[description["method"]](**numbers)


def _tupled(value: Any) -> Any:
    return tuple(map(_tupled, value)) if isinstance(value, list | tuple) else value
