"""Algorithm 1: a mean network, then rounds of a variance network and a Bayesian network."""

from vebnn.strategies.cooperative.algorithm import Cooperative, FittedCooperative
from vebnn.strategies.cooperative.rounds import Round

__all__ = ["Cooperative", "FittedCooperative", "Round"]
