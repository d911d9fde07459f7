"""The result of a joint method: it predicts, and says what to save."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from vebnn.inference import Posterior
from vebnn.inference.evaluation import (
    Shared,
    evaluate_draws,
    moments,
    pool_chains,
    split_outputs,
)
from vebnn.likelihoods.heads import Head, Parts, PredictedParts
from vebnn.prediction import Components
from vebnn.strategies.contract import Fitted


class Trial(NamedTuple):
    """One of the settings that were compared."""

    learning_rate: float
    beta: float
    validation_nll: float  # per observation, in standardised units
    best_epoch: int


@dataclass(frozen=True, eq=False)
class FittedJoint(Fitted):
    """Draws of the network, and the settings that were chosen."""

    head: Head  # the meaning of the outputs
    constant_variance: np.ndarray  # (outputs,): noise beside that of the head
    learning_rate: float  # the chosen one
    beta: float  # the chosen one
    trials: tuple[Trial, ...]  # all that were compared; empty if there was nothing to choose

    published: ClassVar[tuple[str, ...]] = ("learning_rate", "beta", "trials")

    def parts(self, x: np.ndarray) -> Parts:
        """Return mean, aleatoric and epistemic variance (law of total variance).

        Noise is the mean over draws; the epistemic variance is that of the draws' means, plus what
        each draw predicts of its own.
        """
        mean, spread = moments(predicted_parts(self.posterior, self.head), x)
        means = Parts(*split_outputs(mean, 3))
        between = split_outputs(spread, 3)[0]
        return Parts(
            means.mean,
            means.aleatoric_variance + self.constant_variance,
            means.epistemic_variance + between,
        )

    def components(self, x: np.ndarray) -> Components:
        """Return one Gaussian per draw."""
        outputs = evaluate_draws(predicted_parts(self.posterior, self.head), x)
        mean, aleatoric, epistemic = split_outputs(outputs, 3)
        return Components.of_draws(mean, aleatoric + self.constant_variance + epistemic)

    def pieces(self) -> dict[str, Any]:
        """Return the constant noise."""
        return {"constant_variance": self.constant_variance}

    def describe(self) -> dict[str, Any]:
        """Return what was chosen, and from what."""
        return {
            "learning_rate": self.learning_rate,
            "beta": self.beta,
            "trials": [trial._asdict() for trial in self.trials],
        }


def predicted_parts(posterior: Posterior, head: Head) -> PredictedParts:
    """Return pooled draws of networks that output what the head predicts."""
    return PredictedParts(pool_chains(posterior.draws), Shared(head))
