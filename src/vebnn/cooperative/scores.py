"""How well a round predicts rows it has not seen."""

import numpy as np
from arviz_stats.base import array_stats
from scipy import stats

from vebnn.types import Dataset

MOST_ROWS = 500  # enough for a mean; the smoothing takes a fraction of a millisecond per row
FEWEST_DRAWS = 20


def held_out_nll(outputs: np.ndarray, observed: Dataset, variance: np.ndarray) -> float:
    """Return the NLL per observation of N(mean of draws, noise + spread of draws) (eq. 11).

    Args:
      outputs: ``(draws, rows, ..., outputs)``.
      observed: rows nobody trained on.
      variance: the noise of each target.
    """
    total_std = np.sqrt(variance + outputs.var(axis=0))
    log_density = stats.norm.logpdf(observed.target, outputs.mean(axis=0), total_std)
    return float(-np.average(log_density, weights=np.asarray(observed.weight)))


def leave_one_out_nll(outputs: np.ndarray, observed: Dataset, variance: np.ndarray) -> float:
    """Estimate the NLL per observation of rows left out one at a time, from draws that saw them.

    Pareto-smoothed importance sampling (Vehtari et al. 2024): the draws are reweighted by one over
    the likelihood of the row. Unlike the likelihood of the training rows it does not prefer a noise
    that is too small. With too few draws to reweight, it is the plain NLL of the draws' mixture.
    """
    some = np.linspace(0, len(variance) - 1, min(MOST_ROWS, len(variance))).round().astype(int)
    weight = np.asarray(observed.weight)[some]
    target, noise_std = np.asarray(observed.target)[some], np.sqrt(variance[some])
    log_density = stats.norm.logpdf(target, outputs[:, some], noise_std)
    # Outputs of a row are left out together.
    by_row = (weight * log_density).reshape(len(outputs), len(some), -1).sum(-1)
    if len(outputs) < FEWEST_DRAWS:
        log_weight = np.full_like(by_row, -np.log(len(outputs)))
    else:
        smoothed, _ = array_stats.psislw(-by_row.T, axis=-1)
        log_weight = np.asarray(smoothed).T
    return float(-np.logaddexp.reduce(log_weight + by_row, axis=0).sum() / weight.sum())
