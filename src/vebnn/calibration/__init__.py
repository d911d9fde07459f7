"""Recalibration of error bars on held-out rows.

Three methods learn from observations and predictions of rows that were not used in training. Arrays are
``(rows,)`` or ``(rows, ..., outputs)``, in any units, and every output has its own numbers. A model
file holds these numbers; :func:`calibrated` applies them to a prediction.

- :class:`CommonFactor` scales the total variance until intervals of one level have their coverage.
- :class:`SeparateFactors` scales aleatoric and epistemic variance separately, by maximum likelihood.
- :class:`ConformalIntervals` guarantees the coverage of its intervals for any distribution;
  :class:`ConformalScores` does so for every level.
"""

from vebnn.calibration.apply import calibrated
from vebnn.calibration.conformal import ConformalIntervals, ConformalScores, UnreachableLevel
from vebnn.calibration.factors import CommonFactor, SeparateFactors
from vebnn.calibration.held_out import Learned
from vebnn.calibration.methods import CALIBRATIONS, Calibration, describe, learn, revive
from vebnn.calibration.variances import Variances

__all__ = [
    "CALIBRATIONS",
    "Calibration",
    "CommonFactor",
    "ConformalIntervals",
    "ConformalScores",
    "Learned",
    "SeparateFactors",
    "UnreachableLevel",
    "Variances",
    "calibrated",
    "describe",
    "learn",
    "revive",
]
