"""Algorithm 1 of the paper: three learners that help one another."""

from vebnn.strategies.cooperative.algorithm import Fitted, Round, fit_cooperative
from vebnn.strategies.cooperative.settings import Cooperative

__all__ = ["Cooperative", "Fitted", "Round", "fit_cooperative"]
