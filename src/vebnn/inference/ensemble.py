"""Deep ensembles (Lakshminarayanan et al. 2017): the same training from several random starts."""

from dataclasses import dataclass, field

import jax

from vebnn.core.arguments import require_whole
from vebnn.core.types import Key
from vebnn.inference.engine import PointEngine, Posterior, Problem
from vebnn.training import PlannedStage, Stage, Training, planned_training


@dataclass(frozen=True)
class Ensemble(PointEngine):
    """Train ``num_members`` networks from fresh initialisations to the maximum of the posterior.

    Each member is stopped at its best epoch on the validation rows, then trained again on all rows for
    that many epochs, as the paper selects hyperparameters.

    Departures: members see all the data (no bootstrap) and no adversarial examples, as in the paper.

    Args:
      num_members: networks in the ensemble; all are one compiled program.
      training: epochs, learning rate, batch size and patience.
    """

    num_members: int = 5
    training: Training = field(default_factory=lambda: Training(num_epochs=5_000, patience=300))

    title = "Ensembles"

    def __post_init__(self) -> None:
        require_whole("num_members", self.num_members, 1)

    @classmethod
    def for_rows(cls, num_rows: int) -> "Ensemble":
        """Return settings that need no tuning."""
        return cls(training=Training.of_steps(15_000, num_rows, patience=3_000, learning_rate=3e-3))

    @property
    def num_starts(self) -> int:
        """Zero: members start from fresh initialisations."""
        return 0

    def plan(self, name: str, *, refit: bool) -> list[PlannedStage]:
        """Return its training."""
        return planned_training(name, self.training, self.num_members, refit=refit)

    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        """Return each member as a chain of one draw."""
        key_init, key_search, key_refit = jax.random.split(key, 3)
        starts = problem.initialise(jax.random.split(key_init, self.num_members))
        keys = (key_search, key_refit)
        trained, best_epoch = problem.train_to_best_epoch(*keys, starts, self.training, stage)
        draws = jax.tree.map(lambda leaf: leaf[:, None], trained.params)
        info = {"best_epoch": best_epoch}
        return Posterior(draws, trained.history[:, :, 0], False, info)
