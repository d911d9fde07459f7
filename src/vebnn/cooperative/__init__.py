"""Algorithm 1 of the paper: three learners that help one another."""

from vebnn.cooperative.algorithm import Cooperative, Fitted, Round, fit_cooperative

__all__ = ["Cooperative", "Fitted", "Round", "fit_cooperative"]
