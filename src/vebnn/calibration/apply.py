"""Apply a calibration to a prediction."""

from dataclasses import replace
from functools import partial

import numpy as np

from vebnn.calibration.conformal import ConformalScores
from vebnn.calibration.methods import Calibration
from vebnn.calibration.variances import Variances
from vebnn.prediction import BackTransformed, Components, Prediction, in_user_units


def calibrated(raw: Prediction, calibration: Calibration) -> Prediction:
    """Return the prediction after calibration; the mean stays.

    Factors change the distribution: both variances, and with them intervals, quantiles, densities,
    draws and samples. Conformal scores change ``interval`` alone, because they assume no distribution.
    The numbers of targets that are not real belong to the scale on which these are learned.
    """
    if isinstance(raw.law, BackTransformed):
        return in_user_units(calibrated(raw.law.transformed, calibration), raw.law.targets)
    if isinstance(calibration, ConformalScores):
        return replace(raw, interval_reach=calibration.multipliers)
    variances = calibration.apply(raw.aleatoric_variance, raw.epistemic_variance)
    return replace(
        raw,
        aleatoric_variance=variances.aleatoric,
        epistemic_variance=variances.epistemic,
        load_components=partial(_components_with, variances, raw),
    )


def _components_with(variances: Variances, raw: Prediction) -> Components:
    """Return the components of one mode, moved and widened until the mixture has these variances."""
    mean, variance, weight = raw.components
    closer = np.sqrt(_ratio(variances.epistemic, raw.epistemic_variance))
    # A component may have epistemic variance of its own (evidential); it gets the epistemic factor.
    own = np.maximum(raw.epistemic_variance - mean[:, 0].var(0), 0)
    wider = _ratio(variances.aleatoric + closer**2 * own, raw.aleatoric_variance + own)
    return Components(raw.mean + closer * (mean - raw.mean), wider * variance, weight)


def _ratio(new: np.ndarray, old: np.ndarray) -> np.ndarray:
    """Return new / old, or 1 where old is 0."""
    return np.divide(new, old, out=np.ones_like(old), where=old > 0)
