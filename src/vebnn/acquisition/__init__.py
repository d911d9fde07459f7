"""What to measure next: scores of candidates, and batches that do not ask the same thing twice.

A score is a function of a :class:`vebnn.prediction.Prediction` and has one number per row; larger means
sooner. All of them are about ignorance, which a measurement removes, and not about noise, which it does
not.
"""

from vebnn.acquisition.batch import choose_batch
from vebnn.acquisition.improvement import confidence_bound, expected_improvement
from vebnn.acquisition.information import bald, epistemic_variance
from vebnn.acquisition.suggest import SCORES, Suggestion, suggest

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
