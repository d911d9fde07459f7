"""The contract of inference engines: what each is given, what it returns, and what it can do."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import jax
import numpy as np

from vebnn.core.types import AnyDataset, Array, Key, Params
from vebnn.networks import Network
from vebnn.training import (
    Objective,
    PlannedStage,
    Stage,
    Trained,
    Training,
    all_rows,
    pad_rows,
    train_to_best_epoch,
)


class Problem(NamedTuple):
    """A posterior to explore: its objective, its rows, and networks to start from."""

    objective: Objective
    data: AnyDataset
    initialise: Callable[[Key], Network]  # fresh networks, one per key
    starts: Network  # warm starts, stacked: trained networks
    validation_rows: np.ndarray  # rows for early stopping, for engines that optimise
    monitor: Callable[[Params, Any], Array] | None = None  # early stopping's criterion, if not the NLL
    held_out: AnyDataset | None = None  # never trained on; replaces the validation rows

    def warm_starts(self, num_runs: int) -> Network:
        """Return one warm start per run; with more runs than starts, starts are reused in turn."""
        num_starts = jax.tree.leaves(self.starts)[0].shape[0]
        order = np.arange(num_runs) % num_starts
        return jax.tree.map(lambda leaf: leaf[order], self.starts)

    def train_to_best_epoch(
        self, key_search: Key, key_refit: Key, starts: Network, settings: Training, stage: Stage
    ) -> tuple[Trained, Array]:
        """Maximise the posterior from each start, to the best epoch on validation rows.

        With rows ``held_out``, these are the validation rows, and one training on all rows is enough.
        Otherwise the search for the best epoch leaves the ``validation_rows`` out, and a second
        training uses all rows.

        Returns:
          The runs trained on all rows, and each one's best epoch.
        """
        num_runs = jax.tree.leaves(starts)[0].shape[0]
        data, rows, final = self.data, np.arange(len(self.data.x)), None
        kept = np.setdiff1d(rows, self.validation_rows)
        # With too few rows to set any aside, the training rows serve as validation rows.
        watch = self.validation_rows if len(self.validation_rows) else rows
        if self.held_out is None:
            final = all_rows(len(rows), num_runs)
        else:
            data = jax.tree.map(lambda *parts: np.concatenate(parts), data, self.held_out)
            kept, watch = rows, np.arange(len(rows), len(data.x))
        return train_to_best_epoch(
            key_search,
            key_refit,
            self.objective,
            starts,
            data,
            settings,
            train_rows=pad_rows([kept] * num_runs),
            watch_rows=pad_rows([watch] * num_runs),
            final_rows=final,
            monitor=self.monitor,
            stage=stage,
        )


class Posterior(NamedTuple):
    """Draws of the network, and the engine's diagnostics."""

    draws: Any  # stacked networks, leaves (chains, draws, ...); see vebnn.inference.evaluation.Shared
    trace: Array  # (chains, epochs): the objective per row
    markov: bool  # draws of a chain follow one another, so R-hat and effective size make sense
    info: Mapping[str, np.ndarray]  # diagnostics of this engine alone, one entry per chain


class Budget(NamedTuple):
    """How long an experiment of the paper trains, samples and maximises an ELBO."""

    training: Training
    chains: Mapping[str, int]  # settings that all stochastic gradient samplers have
    elbo: Training


class Engine(ABC):
    """Abstract: an inference algorithm. A subclass is a frozen dataclass whose fields are settings.

    Class attributes state what the engine can do:

    - ``needs_likelihood``: it follows the gradient of a log posterior, so that the loss must be a
      log-likelihood. False for engines that only minimise, which take any loss (β-NLL, evidential).
    - ``needs_dropout``: its draws are dropout masks.
    - ``learns_scales``: its draws are right even if prior scales are learned with the weights. Such a
      network, and noise from residuals of the posterior, are then the default.
    - ``mean_field``: it fits an independent distribution to every weight.
    - ``title``: its name in tables, as the paper spells it.
    """

    needs_likelihood: ClassVar[bool] = True
    needs_dropout: ClassVar[bool] = False
    learns_scales: ClassVar[bool] = False
    mean_field: ClassVar[bool] = False
    title: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.title = cls.__dict__.get("title", cls.__name__)

    @abstractmethod
    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        """Return draws from (an approximation of) the posterior of ``problem``."""

    def plan(self, name: str, *, refit: bool) -> list[PlannedStage]:
        """Return the stages of :meth:`run` as far as they are known beforehand, for progress bars.

        Args:
          name: that of the stage that ``run`` is given.
          refit: whether networks are trained to their best epoch and then again on all rows.
        """
        return []

    @classmethod
    def for_rows(cls, num_rows: int) -> Self:
        """Return settings that need no tuning; the engine's defaults unless overridden."""
        return cls()

    @classmethod
    def for_budget(cls, budget: Budget) -> Self:
        """Return settings with the lengths of one of the paper's experiments."""
        return cls()

    @property
    def num_starts(self) -> int:
        """How many warm starts it uses."""
        return 1

    def with_learning_rate(self, rate: float) -> Self:
        """Return the engine with this learning rate if it trains networks, otherwise unchanged."""
        return self

    def continued(self, factor: int) -> Self | None:
        """Return the engine that goes on with its chains for longer; None if it has no chains."""
        return None

    def resumed(self) -> Self:
        """Return the engine for chains that have settled before, on nearly the same posterior."""
        return self

    def with_short_steps(self) -> Self:
        """Return the engine with steps too short to jump between modes of the noise, if it has such."""
        return self

    def check(self, network: Network, x: Array) -> None:  # noqa: B027
        """Refuse, before any training, a network the engine cannot use; ``x`` are some rows."""

    def posterior_like(self, network: Network) -> Any:
        """Return draws of the form of this engine's posterior, to be filled with saved arrays."""
        return network


class PointEngine(Engine):
    """Abstract: an engine that minimises, with a ``training`` among its settings."""

    needs_likelihood = False
    training: Training

    @classmethod
    def for_budget(cls, budget: Budget) -> Self:
        """Return an engine that trains as long as the experiment's other networks."""
        return cls(training=budget.training)  # type: ignore[call-arg]

    def with_learning_rate(self, rate: float) -> Self:
        """Return the engine with this learning rate."""
        training = replace(self.training, learning_rate=rate)
        return replace(self, training=training)  # type: ignore[type-var]
