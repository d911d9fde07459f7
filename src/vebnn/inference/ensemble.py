"""Deep ensembles (Lakshminarayanan et al. 2017): the same training from several random starts."""

from dataclasses import dataclass, field

import jax
import numpy as np

from vebnn.arguments import require_whole
from vebnn.inference.problem import Posterior, Problem
from vebnn.training import Stage, Training, all_rows, pad_rows, train
from vebnn.types import Key


@dataclass(frozen=True)
class Ensemble:
    """Train ``num_members`` networks from fresh initialisations to the maximum of the posterior.

    Each member is stopped at its best epoch on the validation rows, then trained anew on all rows
    for that many epochs, as the paper selects hyperparameters.

    Departures: members see all the data (no bootstrap) and no adversarial examples, as in the paper.

    Args:
      num_members: networks in the ensemble; all are one compiled program.
      training: epochs, learning rate, batch size and patience.
    """

    num_members: int = 5
    training: Training = field(default_factory=lambda: Training(num_epochs=5_000, patience=300))

    def __post_init__(self) -> None:
        require_whole("num_members", self.num_members, 1)

    @classmethod
    def for_rows(cls, num_rows: int) -> "Ensemble":
        """Return settings that need no tuning."""
        return cls(training=Training.of_steps(6_000, num_rows, patience=1_000, learning_rate=3e-3))

    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        """Return each member as a chain of one draw."""
        key_init, key_search, key_refit = jax.random.split(key, 3)
        starts = problem.initialise(jax.random.split(key_init, self.num_members))
        everything = all_rows(len(problem.data.x), self.num_members)
        rows = np.arange(len(problem.data.x))
        # With too few rows to set any aside, the training rows themselves are watched.
        watch = problem.validation_rows if len(problem.validation_rows) else rows
        kept = np.setdiff1d(rows, problem.validation_rows)
        searched = train(
            key_search,
            problem.objective,
            starts,
            problem.data,
            pad_rows([kept] * self.num_members),
            self.training,
            watch_rows=pad_rows([watch] * self.num_members),
            stage=stage.within("best epoch"),
        )
        refitted = train(
            key_refit,
            problem.objective,
            starts,
            problem.data,
            everything,
            self.training,
            num_epochs=searched.best_epoch,
            stage=stage.within("all rows"),
        )
        draws = jax.tree.map(lambda leaf: leaf[:, None], refitted.params)
        return Posterior(draws, refitted.history[:, :, 0], markov=False)
