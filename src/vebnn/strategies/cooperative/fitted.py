"""The result of Algorithm 1: it predicts, and says what to save."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from vebnn.inference.evaluation import evaluate_draws, moments, pool_chains
from vebnn.likelihoods.heads import Parts
from vebnn.networks import Network
from vebnn.prediction import Components
from vebnn.strategies.contract import Fitted
from vebnn.strategies.cooperative.rounds import Round
from vebnn.strategies.cooperative.variance import Noise


@dataclass(frozen=True, eq=False)
class FittedCooperative(Fitted):
    """The networks of all three steps.

    Args:
      mean: the mean network of Step 1.
      noise: the variance network of the chosen round.
      rounds: scores of all rounds.
      chosen_round: number of the round that is used.
      mean_history: training and validation loss of Step 1, ``(epochs, 2)``.
    """

    mean: Network
    noise: Noise
    rounds: tuple[Round, ...]
    chosen_round: int
    mean_history: np.ndarray

    published: ClassVar[tuple[str, ...]] = ("rounds", "chosen_round")

    def parts(self, x: np.ndarray) -> Parts:
        """Return mean, aleatoric and epistemic variance (eq. 11)."""
        mean, epistemic = moments(pool_chains(self.posterior.draws), x)
        return Parts(mean, self.noise.variance(x), epistemic)

    def components(self, x: np.ndarray) -> Components:
        """Return one Gaussian per draw."""
        means = evaluate_draws(pool_chains(self.posterior.draws), x)
        return Components.of_draws(means, self.noise.variance(x)[None])

    def pieces(self) -> dict[str, Any]:
        """Return the networks of Steps 1 and 2."""
        return {"mean": self.mean, "noise": self.noise, "history": self.mean_history}

    def story(self) -> dict[str, Any]:
        """Return the scores of the rounds."""
        return {"rounds": [one._asdict() for one in self.rounds], "chosen_round": self.chosen_round}
