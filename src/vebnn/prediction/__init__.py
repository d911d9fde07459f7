"""Predictions in the user's units, whatever values the targets can have.

- :mod:`vebnn.prediction.prediction`: the moments, and questions to the distribution.
- :mod:`vebnn.prediction.gaussian`: the distribution of real targets.
- :mod:`vebnn.prediction.heavy_tailed`: that of real targets with Student-t noise.
- :mod:`vebnn.prediction.joint`: that of all outputs of a row together.
- :mod:`vebnn.prediction.along`: samples of sequences.
- :mod:`vebnn.prediction.targets`: one file per kind of target, such as positive ones.
- :mod:`vebnn.prediction.back_transformed`: the distribution of targets that are learned transformed.
- :mod:`vebnn.prediction.rows`: steps of predicted sequences, as rows.
- :mod:`vebnn.prediction.crps`: a score of any of these distributions.
"""

from vebnn.prediction.back_transformed import BackTransformed, in_user_units
from vebnn.prediction.components import Components, Modes
from vebnn.prediction.crps import crps
from vebnn.prediction.prediction import Prediction, Spread, frame_columns
from vebnn.prediction.rescaled import rescaled
from vebnn.prediction.rows import steps_as_rows

__all__ = [
    "BackTransformed",
    "Components",
    "Modes",
    "Prediction",
    "Spread",
    "crps",
    "frame_columns",
    "in_user_units",
    "rescaled",
    "steps_as_rows",
]
