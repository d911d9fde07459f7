"""Batches of measurements that do not repeat each other's information."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vebnn.acquisition.outputs import select_output
from vebnn.core.arguments import require_whole
from vebnn.prediction import Prediction

Score = Callable[[Prediction], np.ndarray]


class Suggestion(NamedTuple):
    """Rows to measure, the best first, and the score of each when it was chosen."""

    rows: np.ndarray  # (n,), positions in the pool
    scores: np.ndarray  # (n,)


def choose_best(prediction: Prediction, n: int, score: Score) -> Suggestion:
    """Choose the ``n`` rows with the largest scores, even if they are alike."""
    _check_size(n, prediction)
    scores = _scores(score, prediction)
    rows = np.argsort(-scores, kind="stable")[:n]
    return Suggestion(rows, scores[rows])


def choose_batch(prediction: Prediction, n: int, score: Score) -> Suggestion:
    """Choose rows one by one, each as if those before it had been measured.

    The draws are treated as a Gaussian process with covariance C between rows. A measurement of row i
    with aleatoric variance σ²ᵢ leaves, for any outcome (Rasmussen and Williams 2006, eq. 2.24),

        C ← C − C[:, i] C[i, :] / (C[i, i] + σ²ᵢ),

    and the next row has the best score of the remaining epistemic variances. The mean stays, as if each
    outcome were the predicted one.

    With ``bald`` this is greedy BatchBALD (Kirsch et al. 2019) of Gaussians: the scores sum to
    ½ log det(I + C/σ²) of the chosen rows, at least 63 % of the best batch's. With the confidence bound
    it is GP-BUCB (Desautels et al. 2014); with expected improvement the "kriging believer" (Ginsbourger
    et al. 2010).

    Every output is conditioned on its own measurements. No row is chosen twice.

    Args:
      prediction: of the candidates.
      n: number of rows.
      score: a function of a prediction's mean, aleatoric and epistemic variance; not of its draws,
        which stay the same.

    Raises:
      ValueError: if there are fewer than ``n`` rows, or if there is only one draw.
    """
    _check_size(n, prediction)
    if len(prediction.draws) < 2:
        raise ValueError(
            "The joint covariance of a batch needs at least 2 draws of the network. Got 1; use an "
            'engine that has several, such as inference="psghmc".'
        )
    covariance = _Covariance(prediction, n)
    rows, scores = np.zeros(n, int), np.zeros(n)
    for number in range(n):
        variance = covariance.diagonal.reshape(prediction.mean.shape)
        found = _scores(score, replace(prediction, epistemic_variance=variance))
        found[rows[:number]] = -np.inf
        rows[number] = best = int(np.argmax(found))
        scores[number] = found[best]
        covariance.condition_on(best)
    return Suggestion(rows, scores)


class _Covariance:
    """Covariance C of all rows after some measurements, without a matrix of rows × rows.

    C = AᵀA − LLᵀ, with A the draws' deviations from their mean over √draws, and one column of L for
    every measurement.
    """

    def __init__(self, prediction: Prediction, capacity: int) -> None:
        draws = select_output(prediction.draws, prediction)
        self.noise = select_output(prediction.aleatoric_variance, prediction)  # (rows, columns)
        self.deviations = (draws - draws.mean(0)) / np.sqrt(len(draws))  # A: (draws, rows, columns)
        self.diagonal = np.sum(self.deviations**2, axis=0)  # (rows, columns)
        self.removed = np.zeros((capacity, *self.noise.shape))  # L
        self.measured = 0

    def condition_on(self, row: int) -> None:
        """Subtract what a measurement of the row explains."""
        before = self.removed[: self.measured]
        covariance = np.einsum("drc,dc->rc", self.deviations, self.deviations[:, row])
        covariance -= np.einsum("mrc,mc->rc", before, before[:, row])
        total = self.diagonal[row] + self.noise[row]
        # A known output without noise explains nothing more.
        column = covariance / np.sqrt(np.where(total > 0, total, np.inf))
        self.removed[self.measured] = column
        self.diagonal = np.maximum(self.diagonal - column**2, 0)
        self.measured += 1


def _scores(score: Score, prediction: Prediction) -> np.ndarray:
    """Return the scores of all rows, one number each."""
    scores = np.array(score(prediction), float)
    if scores.shape != (len(prediction),):
        raise ValueError(
            f"The score must have one number per row, {(len(prediction),)}. Got {scores.shape}."
        )
    if np.isnan(scores).any():
        raise ValueError(f"The score must be a number. Got NaN at row {np.argmax(np.isnan(scores))}.")
    return scores


def _check_size(n: int, prediction: Prediction) -> None:
    require_whole("n", n, 1)
    if n > len(prediction):
        raise ValueError(f"The `n` must be at most the size of the pool, {len(prediction)}. Got {n}.")
