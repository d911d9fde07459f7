"""A prediction with what held-out rows taught about its error bars."""

from dataclasses import replace
from functools import partial

import numpy as np

from vebnn.calibration import Calibration, ConformalScores, Variances
from vebnn.prediction import Components, Prediction


def calibrated(raw: Prediction, calibration: Calibration) -> Prediction:
    """Return the prediction after calibration; the mean stays.

    Factors change the distribution: its parts, and with them intervals, quantiles, densities, draws
    and samples. Conformal scores change ``interval`` alone, for they know of no distribution.
    """
    if isinstance(calibration, ConformalScores):
        return replace(raw, interval_reach=calibration.multipliers)
    parts = calibration.apply(raw.aleatoric_variance, raw.epistemic_variance)
    return replace(
        raw,
        aleatoric_variance=parts.aleatoric,
        epistemic_variance=parts.epistemic,
        load_components=partial(_components_with, parts, raw),
    )


def _components_with(parts: Variances, raw: Prediction) -> Components:
    """Return the Gaussians of one mode, moved and widened until the mixture has these variances."""
    mean, variance, weight = raw.components
    closer = np.sqrt(_ratio(parts.epistemic, raw.epistemic_variance))
    # A component may hold ignorance of its own (evidential), which has the factor of ignorance.
    own = np.maximum(raw.epistemic_variance - mean[:, 0].var(0), 0)
    wider = _ratio(parts.aleatoric + closer**2 * own, raw.aleatoric_variance + own)
    return Components(raw.mean + closer * (mean - raw.mean), wider * variance, weight)


def _ratio(new: np.ndarray, old: np.ndarray) -> np.ndarray:
    """Return new / old, or one where there was nothing to change."""
    return np.divide(new, old, out=np.ones_like(old), where=old > 0)
