"""What drives a prediction: Shapley values of its mean, its noise and its ignorance."""

from vebnn.estimators.explanations.explanation import OUTPUTS, Attribution, Explanation

__all__ = ["OUTPUTS", "Attribution", "Explanation"]
