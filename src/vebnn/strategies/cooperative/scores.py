"""How well a round predicts rows it has not seen."""

import numpy as np
from scipy import special, stats

from vebnn.core.types import Dataset
from vebnn.inference.evaluation import Moments


def held_out_nll(prediction: Moments, observed: Dataset) -> float:
    """Return the NLL per observation of N(mean of draws, noise + spread of draws) (eq. 11).

    Args:
      prediction: mean and variance over draws.
      observed: rows nobody trained on, with all of their noise.
    """
    total_std = np.sqrt(observed.variance + prediction.variance)
    log_density = stats.norm.logpdf(observed.target, prediction.mean, total_std)
    return float(-np.average(log_density, weights=observed.weight))


def leave_one_out_nll(outputs: np.ndarray, observed: Dataset, variance: np.ndarray) -> float:
    """Estimate the NLL per observation of rows left out one at a time, from draws that saw them."""
    log_density = stats.norm.logpdf(observed.target, outputs, np.sqrt(variance))
    return leave_one_out(log_density, observed.weight)


def leave_one_out(log_density: np.ndarray, weight: np.ndarray) -> float:
    """Return the NLL per observation of rows left out one at a time, from draws that saw them.

    Importance sampling: a draw counts by one over the likelihood it gives to the row, but never more
    than √draws times the average (truncation, Ionides 2008). Unlike the likelihood of the training
    rows, it does not prefer a noise that is too small.

    Args:
      log_density: what each draw says of each target, ``(draws, rows, ..., outputs)``.
      weight: how often each target counts, ``(rows, ..., outputs)``.
    """
    # Outputs of a row are left out together.
    by_row = (weight * log_density).reshape(*log_density.shape[:2], -1).sum(-1)
    largest = special.logsumexp(-by_row, axis=0) - 0.5 * np.log(len(log_density))
    log_weight = np.minimum(-by_row, largest)
    log_weight -= special.logsumexp(log_weight, axis=0)
    return float(-special.logsumexp(log_weight + by_row, axis=0).sum() / weight.sum())
