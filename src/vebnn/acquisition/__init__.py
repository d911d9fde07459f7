"""Acquisition: what to measure next, for active learning and Bayesian optimisation.

A score is a function of a :class:`vebnn.prediction.Prediction` with one number per row; larger is
better. All scores are about the epistemic uncertainty, which a measurement reduces, and not about the
aleatoric one, which it does not.
"""

from vebnn.acquisition.batch import Suggestion, choose_batch
from vebnn.acquisition.improvement import confidence_bound, expected_improvement
from vebnn.acquisition.information import bald, epistemic_variance
from vebnn.acquisition.suggest import SCORES, suggest

__all__ = [
    "SCORES",
    "Suggestion",
    "bald",
    "choose_batch",
    "confidence_bound",
    "epistemic_variance",
    "expected_improvement",
    "suggest",
]
