"""Calibration methods by name, and what they learned as JSON."""

import warnings
from dataclasses import asdict
from typing import Any

import numpy as np

from vebnn.calibration.conformal import ConformalScores, UnreachableLevel
from vebnn.calibration.factors import CommonFactor, SeparateFactors

Calibration = CommonFactor | SeparateFactors | ConformalScores

CALIBRATIONS: dict[str, type[CommonFactor] | type[SeparateFactors] | type[ConformalScores]] = {
    "common": CommonFactor,
    "separate": SeparateFactors,
    "conformal": ConformalScores,
}


def learn(method: str, *held_out: np.ndarray) -> Calibration:
    """Learn by one of :data:`CALIBRATIONS`; warn if the rows are too few for 95 % intervals.

    ``held_out`` is y, mean, aleatoric and epistemic variance: the arguments of :meth:`Learned.learn`.
    """
    y, mean, aleatoric_variance, epistemic_variance = held_out
    learned = CALIBRATIONS[method].learn(y, mean, aleatoric_variance, epistemic_variance)
    if isinstance(learned, ConformalScores):
        try:
            learned.multipliers(0.95)
        except UnreachableLevel as error:
            warnings.warn(str(error), stacklevel=3)
    return learned


def describe(calibration: Calibration | None) -> dict[str, Any] | None:
    """Return method and numbers, for JSON."""
    if calibration is None:
        return None
    name = next(name for name, kind in CALIBRATIONS.items() if isinstance(calibration, kind))
    return {"method": name, **asdict(calibration)}


def revive(description: dict[str, Any] | None) -> Calibration | None:
    """Return the calibration that :func:`describe` described."""
    if description is None:
        return None
    numbers = {name: _to_tuple(value) for name, value in description.items() if name != "method"}
    return CALIBRATIONS[description["method"]](**numbers)


def _to_tuple(value: Any) -> Any:
    return tuple(map(_to_tuple, value)) if isinstance(value, list | tuple) else value
