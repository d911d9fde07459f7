"""Squared residuals, which Step 2 learns the noise from; and their scale."""

from typing import NamedTuple

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


def cross_fit_residuals(folds: Network, split: Split, data: Dataset) -> ResidualDataset:
    """Return residuals of fold networks on rows they were not trained on.

    The variance between fold networks is a part of such residuals that is not noise.
    """
    unseen = out_of_fold(folds, split, data.x)
    squared = (unseen.mean - data.target) ** 2
    return ResidualDataset(data.x, squared, data.weight, unseen.variance + data.known_variance)


class Rescaled(NamedTuple):
    """Residuals of mean one, per output, and the scale to multiply the learned variance with."""

    data: ResidualDataset
    scale: np.ndarray  # (outputs,)


def rescale(data: ResidualDataset, *, wanted: bool) -> Rescaled:
    """Divide squared residuals by their mean, per output; by one if that is not ``wanted``.

    The N(0, 1) prior on the weights of the variance network has a scale built in; with rescaled
    residuals it stands for constant noise of the observed size.
    """
    weight = np.asarray(data.weight)
    rows = tuple(range(weight.ndim - 1))
    mean = (weight * data.squared).sum(rows) / weight.sum(rows)
    scale = np.maximum(mean, SMALLEST_SCALE) if wanted else np.ones_like(mean)
    return Rescaled(data._replace(squared=data.squared / scale, offset=data.offset / scale), scale)
