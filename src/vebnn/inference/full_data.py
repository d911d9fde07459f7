"""Samplers whose every gradient uses all rows: their base class with burn-in, thinning and chains."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from vebnn.core.arguments import require_whole
from vebnn.core.types import AnyDataset, Array, Key, Params
from vebnn.inference.engine import Engine, Posterior, Problem
from vebnn.inference.evaluation import unravel_draws
from vebnn.training import Objective, Stage, TrainingDiverged, gather, map_runs, replicate


class Chain(Protocol):
    """One chain, as a compiled program. Its state has the fields ``step``, ``draws`` and ``trace``."""

    def begin(self, data: Any, run: tuple[Key, Params]) -> Any:
        """Return the state before the first transition."""

    def advance(self, shared: tuple[Any, Array], state: Any) -> Any:
        """Return the state after a given number of transitions."""


@dataclass(frozen=True)
class FullDataSampler(Engine):
    """Abstract: a sampler with full-data gradients. A subclass adds its chain, and settings of its own.

    Args:
      num_samples: draws kept from each chain.
      burn_in: transitions before the first draw is due, in which the sampler is tuned.
      thinning: transitions from one draw to the next.
      num_chains: independent chains; all are one compiled program.
    """

    num_samples: int = 500
    burn_in: int = 500
    thinning: int = 1
    num_chains: int = 4

    def __post_init__(self) -> None:
        for name in ("num_samples", "burn_in", "thinning", "num_chains"):
            require_whole(name, getattr(self, name), 1)

    @abstractmethod
    def chain(self, objective: Objective, like: Params) -> Chain:
        """Return the program of one chain; ``like`` has the shapes of the parameters."""

    @abstractmethod
    def diagnose(self, end: Any) -> dict[str, np.ndarray]:
        """Return named numbers on the last states, one entry per chain."""

    def prepare(self, data: AnyDataset) -> Any:
        """Return the data in the form the chains read them."""
        return data

    @property
    def num_transitions(self) -> int:
        """How many transitions a chain makes, burn-in included."""
        return self.burn_in + self.thinning * self.num_samples

    @property
    def num_starts(self) -> int:
        """One warm start per chain."""
        return self.num_chains

    def slot(self, number: Array) -> Array:
        """Return where the draw of transition ``number``, counted from 1, is stored.

        A draw is overwritten until its own transition: no branch in the loop.
        """
        due = jnp.maximum(number - self.burn_in, 1)
        return (due + self.thinning - 1) // self.thinning - 1

    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        """Return ``num_chains`` × ``num_samples`` draws, each chain from a warm start."""
        like = jax.tree.map(lambda leaf: leaf[0], problem.starts)
        data = replicate(self.prepare(problem.data), self.num_chains)
        chain = self.chain(problem.objective, like)

        def advance(state: Any, until: int) -> Any:
            return map_runs(chain.advance, (data, np.int32(until)), state)

        def position(state: Any) -> int:
            return int(np.asarray(state.step).min())

        def describe(state: Any) -> str:
            return "burn-in" if position(state) < self.burn_in else "drawing"

        starts = problem.warm_starts(self.num_chains)
        first = map_runs(chain.begin, data, (jax.random.split(key, self.num_chains), starts))
        total = self.num_transitions
        end = stage.run(advance, first, total, position, describe)
        trace = gather(end.trace)
        if not np.isfinite(trace).all():
            failed = int(np.argmin(np.isfinite(trace).all(1)))
            raise TrainingDiverged(
                f"The log posterior of {stage.name or 'the sampler'} is non-finite in chain "
                f"{failed + 1} of {self.num_chains}. Look for extreme values in the data."
            )
        return Posterior(unravel_draws(like, gather(end.draws)), trace, True, self.diagnose(end))


def where(condition: Array, yes: Any, no: Any) -> Any:
    """Choose between two pytrees of the same form, without a branch."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)
