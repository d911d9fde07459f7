"""Squared residuals, which Step 2 learns the noise from; and their scale."""

import numpy as np

from vebnn.core.types import Dataset, ResidualDataset
from vebnn.inference import Posterior
from vebnn.inference.evaluation import evaluate, moments, pool_chains
from vebnn.networks import Network
from vebnn.strategies.cooperative.mean import out_of_fold
from vebnn.strategies.fit_data import first
from vebnn.training import Split

SMALLEST_SCALE = 1e-12


def in_sample_residuals(mean: Network | Posterior, data: Dataset) -> ResidualDataset:
    """Return residuals of rows the mean was trained on (paper): of Step 1, or of a posterior."""
    if isinstance(mean, Posterior):
        outputs = moments(pool_chains(mean.draws), data.x).mean
    else:
        outputs = evaluate(first(mean), data.x)
    return ResidualDataset(data.x, (outputs - data.target) ** 2, data.weight, data.known_variance)


def posterior_residuals(posterior: Posterior, data: Dataset, share: float = 1.0) -> ResidualDataset:
    """Return E[(y − μ)²] over draws of the Bayesian network, for the rows it was sampled with.

    The residuals of its mean alone would be too small, because that mean follows the noise. The
    variance of the draws is what they lack: with a linear model and a flat prior, both together have
    the mean σ² exactly. Draws that counted each target as a ``share`` of one have a variance as many
    times too large for that.
    """
    mean, variance = moments(pool_chains(posterior.draws), data.x)
    squared = (mean - data.target) ** 2 + np.float32(share) * variance
    return ResidualDataset(data.x, squared, data.weight, data.known_variance)


def cross_fit_residuals(folds: Network, split: Split, data: Dataset) -> ResidualDataset:
    """Return residuals of fold networks on rows they were not trained on.

    The variance between fold networks is a part of such residuals that is not noise.
    """
    unseen = out_of_fold(folds, split, data.x)
    squared = (unseen.mean - data.target) ** 2
    return ResidualDataset(data.x, squared, data.weight, unseen.variance + data.known_variance)


def unit_of(data: ResidualDataset, *, rescaled: bool) -> np.ndarray:
    """Return the unit in which the noise of every output is learned: the mean residual, or one.

    The N(0, 1) prior on the weights of the variance network has a scale built in; with rescaled
    residuals it stands for constant noise of the observed size.
    """
    weight = np.asarray(data.weight)
    rows = tuple(range(weight.ndim - 1))
    mean = (weight * data.squared).sum(rows) / weight.sum(rows)
    return np.maximum(mean, SMALLEST_SCALE) if rescaled else np.ones_like(mean)


def in_units(data: ResidualDataset, scale: np.ndarray) -> ResidualDataset:
    """Return residuals divided by a scale, one number per output."""
    return data._replace(squared=data.squared / scale, offset=data.offset / scale)
