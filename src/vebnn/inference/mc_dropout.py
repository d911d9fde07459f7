"""Monte Carlo dropout (Gal and Ghahramani 2016): every mask is a draw of the network."""

from dataclasses import dataclass, field

import equinox as eqx
import jax
import numpy as np

from vebnn.core.arguments import require_whole
from vebnn.core.types import Array, Key, Module
from vebnn.inference.engine import PointEngine, Posterior, Problem
from vebnn.inference.evaluation import Shared, evaluate_draws
from vebnn.networks import Network
from vebnn.training import PlannedStage, Stage, Training, planned_training

_FEW_ROWS, _SOME_MASKS = 8, 64  # enough to detect dropout in a network


class OneMask(eqx.Module):
    """A network whose dropout mask is fixed: the same units are missing at every input."""

    network: Module
    key_data: Array  # two unsigned 32-bit words; all masks of the network follow from them

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        """Map one example to its outputs, with the mask of ``key`` if one is given."""
        own = jax.random.wrap_key_data(self.key_data) if key is None else key
        return self.network(x, key=own)


@dataclass(frozen=True)
class MCDropout(PointEngine):
    """Train with dropout, and keep dropout on when predicting.

    Gal and Ghahramani 2016, eqs. 2 to 7: a network W with units dropped at random stands for
    q(ω), ω = W·diag(z), z ~ Bernoulli(1 − p), p the network's dropout rate. Each draw is one z, used
    at every input, so that a draw is a function, as it is for all engines.

    Training starts from the warm start, which had the same dropout; it is stopped at its best epoch
    on the validation rows (dropout off), then repeated from the same start on all rows for that many
    epochs.

    Departures from Gal and Ghahramani: the L2 term is that of the prior N(0, 1/κ), not scaled by
    1 − p, and the inputs are not dropped unless the network does so itself; a mask is drawn per draw,
    not per draw and input. Masks are those of the network: some draw one per time step.

    Args:
      num_samples: masks.
      training: epochs, learning rate, batch size and patience.
    """

    num_samples: int = 100
    training: Training = field(default_factory=lambda: Training(num_epochs=5_000, patience=300))

    needs_dropout = True
    title = "MC-Dropout"

    def __post_init__(self) -> None:
        require_whole("num_samples", self.num_samples, 1)

    @classmethod
    def for_rows(cls, num_rows: int) -> "MCDropout":
        """Return settings that need no tuning."""
        return cls(training=Training.of_steps(6_000, num_rows, patience=1_000))

    def check(self, network: Network, x: Array) -> None:
        """Refuse a network without dropout.

        Raises:
          ValueError: if all masks give the same outputs.
        """
        keys = jax.random.split(jax.random.key(0), _SOME_MASKS)
        outputs = evaluate_draws(_masks(network, keys), x[:_FEW_ROWS])
        if (outputs == outputs[0]).all():
            raise ValueError(
                "MC dropout needs a network with dropout, e.g. MLP((50, 50), dropout_rate=0.1)."
            )

    def posterior_like(self, network: Network) -> OneMask:
        """Return a mask of the network."""
        return _masks(network, jax.random.key(0))

    def plan(self, name: str, *, refit: bool) -> list[PlannedStage]:
        """Return its training."""
        return planned_training(name, self.training, refit=refit)

    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        """Return one chain of ``num_samples`` masks, which share the weights."""
        starts = problem.warm_starts(1)
        self.check(jax.tree.map(lambda leaf: leaf[0], starts), problem.data.x)
        key_search, key_refit, key_masks = jax.random.split(key, 3)
        keys = (key_search, key_refit)
        trained, best_epoch = problem.train_to_best_epoch(*keys, starts, self.training, stage)
        network = jax.tree.map(lambda leaf: leaf[0], trained.params)
        draws = _masks(network, jax.random.split(key_masks, (1, self.num_samples)))
        return Posterior(draws, trained.history[:, :, 0], False, {"best_epoch": best_epoch})


def _masks(network: Network, keys: Key) -> OneMask:
    return OneMask(Shared(network), np.asarray(jax.random.key_data(keys)))
