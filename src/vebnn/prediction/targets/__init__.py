"""Kinds of targets: which values are possible, and how they are learned. One file per kind.

- ``"real"``: any number, learned as it is.
- ``"positive"``: log(y) is learned.
- ``"fraction"``: logit(y) is learned, for 0 < y < 1.
- ``"count"``: √(y + 3/8) is learned, for 0, 1, 2, …

``Increasing`` is for functions of the user's own.
"""

from vebnn.prediction.targets.count import Count
from vebnn.prediction.targets.fraction import Fraction
from vebnn.prediction.targets.increasing import Increasing
from vebnn.prediction.targets.positive import Positive
from vebnn.prediction.targets.real import Real
from vebnn.prediction.targets.target import Moments, Target

TARGETS: dict[str, Target] = {kind.name: kind for kind in (Real(), Positive(), Fraction(), Count())}

__all__ = ["TARGETS", "Count", "Fraction", "Increasing", "Moments", "Positive", "Real", "Target"]
