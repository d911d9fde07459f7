"""The distribution of all outputs of a row together."""

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from vebnn.prediction.law import Kind

if TYPE_CHECKING:
    from vebnn.prediction.prediction import Prediction


def aleatoric_covariance(prediction: "Prediction") -> np.ndarray:
    """Return the covariance of the noise, ``(rows, ..., outputs, outputs)``."""
    _require_gaussian_outputs(prediction)
    return _with_correlation(prediction.aleatoric_std, _correlation(prediction))


def epistemic_covariance(prediction: "Prediction") -> np.ndarray:
    """Return the covariance of the means: their correlation over draws, with the epistemic stds."""
    _require_gaussian_outputs(prediction)
    error = prediction.draws - prediction.draws.mean(0)
    covariance = np.einsum("d...i,d...j->...ij", error, error) / len(error)
    std = np.sqrt(np.einsum("...ii->...i", covariance))
    product = std[..., :, None] * std[..., None, :]
    # Means that do not vary are not correlated.
    still = np.broadcast_to(np.eye(std.shape[-1]), covariance.shape)
    correlation = np.divide(covariance, product, out=still.copy(), where=product > 0)
    return _with_correlation(prediction.epistemic_std, correlation)


def log_prob(prediction: "Prediction", y: np.ndarray, kind: Kind) -> np.ndarray:
    """Return the log-density of all outputs of each row together, ``(rows, ...)``."""
    if kind == "gaussian":
        return _log_normal(y - prediction.mean, prediction.covariance)
    _require_gaussian_outputs(prediction)
    mean, variance, _ = (part[:, 0] for part in prediction.components)
    by_draw = _log_normal(y - mean, _with_correlation(np.sqrt(variance), _correlation(prediction)))
    return special.logsumexp(by_draw, axis=0) - np.log(len(mean))


def _correlation(prediction: "Prediction") -> np.ndarray:
    found = prediction.noise_correlation
    return np.eye(prediction.mean.shape[-1]) if found is None else found


def _with_correlation(std: np.ndarray, correlation: np.ndarray) -> np.ndarray:
    return std[..., :, None] * std[..., None, :] * correlation


def _log_normal(error: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return log N(error | 0, covariance)."""
    root = np.linalg.cholesky(covariance)
    white = np.linalg.solve(root, error[..., None])[..., 0]
    log_determinant = np.log(np.einsum("...ii->...i", root)).sum(-1)
    return -0.5 * (white**2 + np.log(2 * np.pi)).sum(-1) - log_determinant


def _require_gaussian_outputs(prediction: "Prediction") -> None:
    several = prediction.mean.ndim > 1
    gaussian = prediction.law is None and prediction.degrees_of_freedom is None
    if not (several and gaussian and prediction.components.weight.shape[1] == 1):
        raise ValueError(
            "A covariance of outputs needs real targets with Gaussian noise, given as the columns of "
            "y. Got another prediction; use its variances, and log_prob of each output by itself."
        )
