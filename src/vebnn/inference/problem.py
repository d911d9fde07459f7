"""What every engine is given, and what every engine gives back."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np

from vebnn.core.types import Array, Dataset, Key, Params
from vebnn.training import Objective, Stage


class Problem(NamedTuple):
    """A posterior to explore. An engine does not know where the noise in it comes from."""

    objective: Objective
    data: Dataset
    initialise: Callable[[Key], Params]  # fresh parameters, one network per key
    starts: Params  # warm starts, stacked: trained networks
    validation_rows: np.ndarray  # rows to stop early on, for engines that optimise
    skeleton: Any  # the network without weights: equinox.combine(weights, skeleton) is a network
    monitor: Callable[[Params, Dataset], Array] | None = None  # what early stopping watches, if told
    held_out: Dataset | None = None  # rows never to train on; early stopping watches these instead

    def warm_starts(self, num_runs: int) -> Params:
        """Return one warm start per run; more runs than starts go round again."""
        num_starts = jax.tree.leaves(self.starts)[0].shape[0]
        order = np.arange(num_runs) % num_starts
        return jax.tree.map(lambda leaf: leaf[order], self.starts)


class Posterior(NamedTuple):
    """Draws of the parameters and what the engine has to say about them."""

    draws: Params  # leaves of shape (chains, draws, ...)
    trace: Array  # (chains, epochs): the objective per row as the engine went along
    markov: bool  # the draws of a chain follow one another, so R-hat and effective size make sense
    skeleton: Any  # equinox.combine(one draw, skeleton) is a network
    info: Mapping[str, np.ndarray]  # diagnostics that only this engine has, one entry per chain


class Engine(Protocol):
    """An inference algorithm.

    An engine that can be asked for by name also has ``for_rows(num_rows)``, a class method that
    returns settings which need no tuning; ``num_starts`` says how many warm starts it makes use of,
    one unless told. Two more methods are for engines that need them:
    ``check(params, skeleton, x)`` complains about a network the engine cannot use, before anything
    is trained; ``posterior_like(params, skeleton)`` returns draws and skeleton of the form its
    posterior has, to fill with saved arrays, where draws are not simply weights.
    """

    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        """Return draws from (an approximation of) the posterior of ``problem``."""
        ...


def num_starts(engine: Engine) -> int:
    """Return how many warm starts an engine makes use of."""
    return getattr(engine, "num_starts", 1)


def check_engine(engine: Engine, params: Params, skeleton: Any, x: Array) -> None:
    """Let an engine complain about a network before anything is trained.

    Args:
      engine: the engine; most have nothing to complain about.
      params: the weights of one network.
      skeleton: the network without them.
      x: some rows.
    """
    if hasattr(engine, "check"):
        engine.check(params, skeleton, x)


def posterior_like(engine: Engine, params: Params, skeleton: Any) -> tuple[Params, Any]:
    """Return draws and skeleton of the form an engine's posterior has; shapes do not count."""
    if hasattr(engine, "posterior_like"):
        return engine.posterior_like(params, skeleton)
    return params, skeleton
