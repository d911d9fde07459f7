"""Several measurements at once, none of which repeats what another one will teach."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vebnn.acquisition.outputs import columns_of, draws_of
from vebnn.core.arguments import require_whole
from vebnn.prediction import Prediction

Score = Callable[[Prediction], np.ndarray]


class Suggestion(NamedTuple):
    """Rows to measure, the most wanted first, and the score each had when it was chosen."""

    rows: np.ndarray  # (n,), positions in the pool
    scores: np.ndarray  # (n,)


def choose_best(prediction: Prediction, n: int, score: Score) -> Suggestion:
    """Choose the ``n`` rows with the largest scores, however alike they are."""
    _check_size(n, prediction)
    scores = _scores(score, prediction)
    rows = np.argsort(-scores, kind="stable")[:n]
    return Suggestion(rows, scores[rows])


def choose_batch(prediction: Prediction, n: int, score: Score) -> Suggestion:
    """Choose rows one by one, each as if those before it had been measured.

    The draws are taken for a Gaussian process, with covariance C between rows. A measurement of row i
    with aleatoric variance σ²ᵢ leaves (Rasmussen and Williams 2006, eq. 2.24)

        C ← C − C[:, i] C[i, :] / (C[i, i] + σ²ᵢ),

    whatever its outcome, and the next row is the best by the score of the epistemic variances that are
    left. The mean stays, as if each outcome were the one predicted.

    With ``bald`` this is greedy BatchBALD (Kirsch et al. 2019) of Gaussians: the scores add up to
    ½ log det(I + C/σ²) of the chosen rows, and greedy is no worse than 63 % of the best batch. With the
    confidence bound it is GP-BUCB (Desautels et al. 2014); with expected improvement the "kriging
    believer" (Ginsbourger et al. 2010).

    Several outputs are conditioned each on its own measurements. No row is chosen twice.

    Args:
      prediction: of the candidates.
      n: how many rows.
      score: a function of a prediction's mean, aleatoric and epistemic variance; not of its draws,
        which stay what they are.

    Raises:
      ValueError: if there are fewer than ``n`` rows, or if there is only one draw.
    """
    _check_size(n, prediction)
    if len(prediction.draws) < 2:
        raise ValueError(
            "The joint covariance of a batch needs at least 2 draws of the network. Got 1; use an "
            'engine that has several, such as inference="psgld".'
        )
    belief = _Belief.of(prediction, n)
    rows, scores = np.zeros(n, int), np.zeros(n)
    left = np.ones(len(prediction), bool)
    for number in range(n):
        variance = belief.variance.reshape(prediction.mean.shape)
        found = _scores(score, replace(prediction, epistemic_variance=variance))
        rows[number] = best = int(np.argmax(np.where(left, found, -np.inf)))
        scores[number], left[best] = found[best], False
        belief.measure(best)
    return Suggestion(rows, scores)


class _Belief:
    """What is left of the covariance of all rows, without ever holding rows × rows.

    C = AᵀA − LLᵀ, with A the draws' deviations from their mean over √draws, and one column of L for
    every measurement.
    """

    def __init__(self, deviations: np.ndarray, noise: np.ndarray, capacity: int) -> None:
        self.deviations = deviations  # (draws, rows, columns)
        self.noise = noise  # (rows, columns)
        self.variance = np.sum(deviations**2, axis=0)  # (rows, columns)
        self.removed = np.zeros((capacity, *noise.shape))  # L
        self.measured = 0

    @classmethod
    def of(cls, prediction: Prediction, capacity: int) -> "_Belief":
        draws = draws_of(prediction)
        noise = columns_of(prediction).aleatoric_variance
        return cls((draws - draws.mean(0)) / np.sqrt(len(draws)), noise, capacity)

    def measure(self, row: int) -> None:
        """Take away what a measurement of the row explains."""
        before = self.removed[: self.measured]
        covariance = np.einsum("drc,dc->rc", self.deviations, self.deviations[:, row])
        covariance -= np.einsum("mrc,mc->rc", before, before[:, row])
        total = self.variance[row] + self.noise[row]
        # An output that is known and has no noise teaches nothing more.
        column = covariance / np.sqrt(np.where(total > 0, total, np.inf))
        self.removed[self.measured] = column
        self.variance = np.maximum(self.variance - column**2, 0)
        self.measured += 1


def _scores(score: Score, prediction: Prediction) -> np.ndarray:
    """Return the scores of all rows; what is no number per row would choose rows at random."""
    scores = np.asarray(score(prediction), float)
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
