"""Scores of a round: how well it predicts rows it has not seen; and which round is chosen."""

import math
from typing import NamedTuple

import numpy as np
from scipy import special, stats

from vebnn.core.types import NoisyDataset
from vebnn.inference.evaluation import Moments
from vebnn.likelihoods.student import squared_scale_of
from vebnn.prediction import Components, Prediction

MOST_ROUNDS, FEWEST_ROUNDS = 12, 3
FEW_ROWS = 2_000  # may take the most rounds; of more, the number falls with the root of the rows


class Round(NamedTuple):
    """Scores of one round."""

    number: int
    log_marginal_likelihood: float  # LMglk per observation, on the training rows
    validation_nll: float  # per observation, in standardised units
    validation_kind: str  # "held out" rows, or "leave one out" from the draws
    typical_noise_std: float  # root mean aleatoric variance, in standardised units
    variance_epochs: int


def most_rounds(num_rows: int) -> int:
    """Return the most rounds of a fit whose number of rounds is open.

    Rounds remove the error of fold networks from the noise, and of many rows that is small. Further
    rounds drift: the noise gathers at a few gross errors and becomes too small elsewhere.
    """
    return max(FEWEST_ROUNDS, round(MOST_ROUNDS * min(1.0, math.sqrt(FEW_ROWS / num_rows))))


def choose_round(rounds: list[Round], criterion: str) -> int:
    """Return the place of the best round, as ``choose_round`` of VeBNNRegressor says."""
    if criterion == "last":
        return len(rounds) - 1
    if criterion == "validation":
        return int(np.argmin([one.validation_nll for one in rounds]))
    # Algorithm 1: arg max over i > 1; with K = 1 there is only one round.
    later = range(1, len(rounds)) if len(rounds) > 1 else range(1)
    return max(later, key=lambda index: rounds[index].log_marginal_likelihood)


def held_out_nll(
    prediction: Moments, observed: NoisyDataset, freedom: np.ndarray | None = None
) -> float:
    """Return the NLL per observation of the noise around N(mean, variance of draws) (eq. 11).

    The ``freedom`` is that of Student-t noise, ``(outputs,)``; None is Gaussian noise.
    """
    mean, noise, epistemic = prediction.mean, observed.noise_variance, prediction.variance
    if freedom is None:
        log_density = stats.norm.logpdf(observed.target, mean, np.sqrt(noise + epistemic))
    else:
        parts = (mean, noise, epistemic, lambda: Components.of_draws(mean[None], noise[None]))
        log_density = Prediction(*parts, degrees_of_freedom=freedom).log_prob(observed.target)
    return float(-np.average(log_density, weights=observed.weight))


def leave_one_out_nll(
    outputs: np.ndarray, observed: NoisyDataset, freedom: np.ndarray | None = None
) -> float:
    """Estimate the NLL per observation of rows left out one at a time, from draws that saw them."""
    target, variance = observed.target, observed.noise_variance
    if freedom is None:
        log_density = stats.norm.logpdf(target, outputs, np.sqrt(variance))
    else:
        scale = np.sqrt(squared_scale_of(variance, freedom))
        log_density = stats.t.logpdf(target, freedom, outputs, scale)
    return leave_one_out(log_density, observed.weight)


def leave_one_out(log_density: np.ndarray, weight: np.ndarray) -> float:
    """Return the NLL per observation of rows left out one at a time, from draws that saw them.

    Importance sampling: a draw is weighted by one over the likelihood of the row, truncated at √draws
    times the average weight (Ionides 2008). Unlike the likelihood of the training rows, it does not
    favour a noise that is too small.

    Args:
      log_density: of each target under each draw, ``(draws, rows, ..., outputs)``.
      weight: how often each target counts, ``(rows, ..., outputs)``.
    """
    # Outputs of a row are left out together.
    by_row = (weight * log_density).reshape(*log_density.shape[:2], -1).sum(-1)
    largest = special.logsumexp(-by_row, axis=0) - 0.5 * np.log(len(log_density))
    log_weight = np.minimum(-by_row, largest)
    log_weight -= special.logsumexp(log_weight, axis=0)
    return float(-special.logsumexp(log_weight + by_row, axis=0).sum() / weight.sum())
