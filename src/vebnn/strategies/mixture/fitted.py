"""The result of the mixture algorithm: it predicts, and says what to save."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from vebnn.inference.evaluation import (
    Shared,
    evaluate_draws,
    moments,
    pool_chains,
    split_outputs,
)
from vebnn.likelihoods.heads import Parts
from vebnn.likelihoods.mixture import Mixture
from vebnn.networks import Network
from vebnn.prediction import Components
from vebnn.strategies.contract import Fitted
from vebnn.strategies.cooperative.noise import Noise
from vebnn.strategies.mixture.modes import MixtureMoments, WholeMixture, split_whole


class MixtureRound(NamedTuple):
    """Scores of one round."""

    number: int
    validation_nll: float  # per observation, in standardised units
    validation_kind: str  # "held out" rows, or "leave one out" from the draws
    variance_epochs: int  # of the last of Step 2's trainings


@dataclass(frozen=True, eq=False)
class FittedMixture(Fitted):
    """The networks of all three steps; probes are means of the mixture."""

    mean: Network  # Step 1
    constant_variance: np.ndarray  # (outputs, modes): the noise of Step 1
    start_nll: np.ndarray  # (starts,): validation NLL per observation of the starts of Step 1
    noise: Noise  # Step 2 of the chosen round
    order: np.ndarray  # (draws, outputs, modes): labels that agree between draws
    rounds: tuple[MixtureRound, ...]  # scores of all rounds
    chosen_round: int
    mean_history: np.ndarray  # (epochs, 2): training and validation loss of Step 1

    published: ClassVar[tuple[str, ...]] = ("rounds", "chosen_round", "start_nll")

    @property
    def num_modes(self) -> int:
        """Gaussians in the mixture of every target."""
        return self.order.shape[-1]

    def whole(self) -> WholeMixture:
        """Return the pooled draws as networks that output a whole mixture."""
        return WholeMixture(pool_chains(self.posterior.draws), self.order, Shared(self.noise))

    def modes(self, x: np.ndarray) -> tuple[Mixture, np.ndarray]:
        """Return every draw's mixture and its variances, ``(draws, rows, ..., outputs, modes)``."""
        mixture, variance = split_whole(evaluate_draws(self.whole(), x), self.num_modes)
        return Mixture(*map(np.asarray, mixture)), np.asarray(variance)

    def parts(self, x: np.ndarray) -> Parts:
        """Return mean, aleatoric and epistemic variance (law of total variance).

        Noise is the mean over draws of the mixture's variance, within and between modes; the epistemic
        variance is that of the mixture's mean over draws.
        """
        mean, spread = moments(MixtureMoments(self.whole(), self.num_modes), x)
        centre, aleatoric = split_outputs(mean, 2)
        return Parts(centre, aleatoric, split_outputs(spread, 2)[0])

    def components(self, x: np.ndarray) -> Components:
        """Return one Gaussian per draw and mode."""
        modes, variance = self.modes(x)
        parts = (modes.mean, variance, np.exp(modes.log_weight))
        return Components(*(np.moveaxis(part, -1, 1) for part in parts))

    def pieces(self) -> dict[str, Any]:
        """Return the networks of Steps 1 and 2, and the labels."""
        names = ("mean", "constant_variance", "start_nll", "noise", "order")
        return {name: getattr(self, name) for name in names} | {"history": self.mean_history}

    def describe(self) -> dict[str, Any]:
        """Return the scores of the rounds."""
        return {"rounds": [one._asdict() for one in self.rounds], "chosen_round": self.chosen_round}
