"""The contract of strategies: settings that fit, and a result that predicts and saves itself."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import numpy as np

from vebnn.core.types import Dataset, Key
from vebnn.inference import Engine, Posterior
from vebnn.likelihoods.heads import Parts
from vebnn.networks import Network, build_networks
from vebnn.prediction import Components
from vebnn.training import Stage


class Rows(NamedTuple):
    """What a strategy learns from, in standardised units."""

    data: Dataset
    held_out: Dataset | None = None  # for early stopping and scores only
    # (rows,), the group of each row of ``data``, counted from 0; None if every row is a group
    groups: np.ndarray | None = None


class Shapes(NamedTuple):
    """Sizes of one row of the data."""

    in_shape: tuple[int, ...]  # of one example
    steps: tuple[int, ...]  # axes of one target before its outputs, such as time
    num_outputs: int

    @classmethod
    def of(cls, data: Dataset) -> "Shapes":
        """Return the sizes of the rows of a data set."""
        *steps, num_outputs = data.target.shape[1:]
        return cls(data.x.shape[1:], tuple(steps), num_outputs)

    def build(self, recipe: Any, parts: int, keys: Key) -> Network:
        """Return one network per key, stacked, with ``parts`` numbers for each output."""
        return build_networks(recipe, self.in_shape, parts * self.num_outputs, keys, steps=self.steps)

    def like(self, recipe: Any, parts: int) -> Network:
        """Return a network of the right structure, to be filled with saved weights."""
        return self.build(recipe, parts, jax.random.split(jax.random.key(0), 1))


ARRAY = 0  # stands for any array in a pytree to be filled


class Saved(NamedTuple):
    """What a model file holds of a :class:`Fitted`."""

    description: Mapping[str, Any]
    fill: Callable[[str, Any], Any]  # (name, like) → the arrays of that name, in the form of ``like``
    markov: bool
    info: tuple[str, ...]  # names of the engine's diagnostics

    def posterior(self, engine: Engine, network: Network) -> Posterior:
        """Return the posterior that an engine has found for a network."""
        draws = self.fill("draws", engine.posterior_like(network))
        info = self.fill("info", dict.fromkeys(self.info, ARRAY))
        return Posterior(draws, self.fill("trace", ARRAY), self.markov, info)

    def common(self, engine: Engine, network: Network) -> dict[str, Any]:
        """Return the fields that every :class:`Fitted` has."""
        probes = {name: self.fill(name, ARRAY) for name in ("probe", "probe_x")}
        return {"posterior": self.posterior(engine, network), **probes}


@dataclass(frozen=True, eq=False)
class Fitted(ABC):
    """Abstract: a fitted strategy, in standardised units."""

    posterior: Posterior
    # (chains, draws, rows, ..., outputs): means of the draws at some training rows; NaN in padding
    probe: np.ndarray
    probe_x: np.ndarray  # the inputs of these rows

    published: ClassVar[tuple[str, ...]] = ()  # fields that estimators show, with a trailing _

    @property
    def degrees_of_freedom(self) -> np.ndarray | None:
        """Those of Student-t noise, ``(outputs,)``; None if noise is Gaussian."""
        return None

    @property
    def noise_correlation(self) -> np.ndarray | None:
        """That of the outputs' noise, ``(outputs, outputs)``; None if each has noise of its own."""
        return None

    @property
    def noise_autocorrelation(self) -> np.ndarray | None:
        """That of the noise along sequences, by distance; None if steps have noise of their own."""
        return None

    @abstractmethod
    def parts(self, x: np.ndarray) -> Parts:
        """Return mean, aleatoric and epistemic variance."""

    @abstractmethod
    def components(self, x: np.ndarray) -> Components:
        """Return the Gaussians of the predictive mixture."""

    @abstractmethod
    def pieces(self) -> dict[str, Any]:
        """Return the arrays to save beside those of every fitted strategy, as named pytrees."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return, for JSON, what arrays cannot hold: scores and choices."""

    def arrays(self) -> dict[str, Any]:
        """Return all arrays to save, as named pytrees."""
        draws, trace, _, info = self.posterior
        common = {"draws": draws, "trace": trace, "info": dict(info)}
        return common | {"probe": self.probe, "probe_x": self.probe_x} | self.pieces()


class Strategy(ABC):
    """Abstract: settings of a strategy, complete and checked. A subclass is a frozen dataclass."""

    network: Any
    variance_network: Any
    engine: Engine

    @abstractmethod
    def fit(self, key: Key, rows: Rows, stage: Stage) -> Fitted:
        """Learn from rows; those of a group are on one side of every split.

        The same key gives the same result on the same machine.
        """

    @property
    def goes_on(self) -> bool:
        """Whether :meth:`update` can go on from an earlier fit."""
        return False

    def update(self, key: Key, rows: Rows, stage: Stage, before: Any) -> Fitted:
        """Go on from an earlier fit of this strategy with more rows, in the same units."""
        raise NotImplementedError

    @abstractmethod
    def revive(self, shapes: Shapes, saved: Saved) -> Fitted:
        """Return what :meth:`fit` returned, from saved arrays and JSON."""
