"""Recalibration: what held-out rows say of the error bars.

Three ways, each learned from observations and predictions of rows that nobody trained on. Arrays are
``(rows,)`` or ``(rows, ..., outputs)``, in any units, and every output has its own numbers. What is
learned are plain numbers, so that a model file can hold them.

- :class:`CommonFactor` scales the total variance until intervals of one level hold what they promise.
- :class:`SeparateFactors` scales noise and ignorance each for itself, by maximum likelihood.
- :class:`ConformalIntervals` trusts no distribution, and guarantees the coverage of its intervals;
  :class:`ConformalScores` does so for every level.
"""

from vebnn.calibration.conformal import ConformalIntervals, ConformalScores, UnreachableLevel
from vebnn.calibration.factors import CommonFactor, SeparateFactors
from vebnn.calibration.methods import METHODS, Calibration, describe, learn, revive
from vebnn.calibration.rows import Variances

__all__ = [
    "METHODS",
    "Calibration",
    "CommonFactor",
    "ConformalIntervals",
    "ConformalScores",
    "SeparateFactors",
    "UnreachableLevel",
    "Variances",
    "describe",
    "learn",
    "revive",
]
