"""Scikit-learn estimators: one abstract regressor, one final class per strategy."""

from vebnn.estimators.explanations import Attribution, Explanation
from vebnn.estimators.joint import JointRegressor
from vebnn.estimators.mixture import MixtureRegressor
from vebnn.estimators.pipelines import predict_distribution
from vebnn.estimators.preprocessing import pad_sequences, with_changes
from vebnn.estimators.regressor import Regressor
from vebnn.estimators.relevance import Relevance, Spread
from vebnn.estimators.vebnn import VeBNNRegressor

__all__ = [
    "Attribution",
    "Explanation",
    "JointRegressor",
    "MixtureRegressor",
    "Regressor",
    "Relevance",
    "Spread",
    "VeBNNRegressor",
    "pad_sequences",
    "predict_distribution",
    "with_changes",
]
