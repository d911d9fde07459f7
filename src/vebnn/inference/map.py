"""Maximum a posteriori: one network, no epistemic uncertainty."""

from dataclasses import dataclass, field

import jax

from vebnn.core.types import Key
from vebnn.inference.engine import Budget, PointEngine, Posterior, Problem
from vebnn.training import PlannedStage, Stage, Training, all_rows, planned_training, train


@dataclass(frozen=True)
class MAP(PointEngine):
    """Train from the warm start to the maximum of the posterior (paper, eq. 10) with Adam.

    One draw: its epistemic variance is zero. It is the baseline that shows what the Bayesian part
    of a method adds.

    Args:
      training: epochs, learning rate and batch size; trained on all rows to the last epoch.
    """

    training: Training = field(default_factory=lambda: Training(num_epochs=2_000))

    @classmethod
    def for_rows(cls, num_rows: int) -> "MAP":
        """Return settings that need no tuning."""
        return cls(Training.of_steps(3_000, num_rows))

    @classmethod
    def for_budget(cls, budget: Budget) -> "MAP":
        """Return the defaults: the paper has no such method."""
        return cls()

    def plan(self, name: str, *, refit: bool) -> list[PlannedStage]:
        """Return its training."""
        return planned_training(name, self.training, refit=False)

    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        """Return the maximum as a single draw."""
        trained = train(
            key,
            problem.objective,
            problem.warm_starts(1),
            problem.data,
            all_rows(len(problem.data.x)),
            self.training,
            stage=stage,
        )
        draws = jax.tree.map(lambda leaf: leaf[:, None], trained.params)
        info = {"objective_per_row": trained.best_value}
        return Posterior(draws, trained.history[:, :, 0], False, info)
