"""Correlation of the noise of several outputs, from the errors of a Bayesian network."""

import numpy as np

from vebnn.core.types import Dataset
from vebnn.inference import Posterior
from vebnn.inference.evaluation import evaluate_draws, pool_chains

LARGEST = 0.999  # beyond, one output is a copy of others, and the covariance has no inverse


def posterior_products(posterior: Posterior, data: Dataset) -> np.ndarray:
    """Return E[(y − μ)(y − μ)ᵀ] over draws, ``(rows, ..., outputs, outputs)``.

    Its diagonal are the squared residuals that Step 2 learns from.
    """
    error = data.target - evaluate_draws(pool_chains(posterior.draws), data.x)
    return np.einsum("d...i,d...j->...ij", error, error) / len(error)


def correlation_of(products: np.ndarray, variance: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return R for noise of covariance s_i s_j R_ij, given its variances s², ``(outputs, outputs)``.

    The covariance of standardised errors that maximises the likelihood is their mean product. R is its
    correlation, because the variances are learned by Step 2.

    Args:
      products: mean products of errors, ``(rows, ..., outputs, outputs)``.
      variance: of the noise, ``(rows, ..., outputs)``.
      weight: of the targets, the same for all outputs of a row.
    """
    std = np.sqrt(np.asarray(variance, float))
    standardised = products / (std[..., :, None] * std[..., None, :])
    counts = np.asarray(weight, float)[..., :1, None]
    axes = tuple(range(standardised.ndim - 2))
    covariance = (counts * standardised).sum(axes) / counts.sum()
    scale = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(scale, scale)
    return (LARGEST * correlation + (1 - LARGEST) * np.eye(len(scale))).astype(np.float32)
