"""Inference for the last layers alone: what large networks can afford.

Features, the outputs of all layers below the head, are computed once for every row, with the network of
the warm start. An engine then explores the posterior of the head, a small network of these features.
"""

from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax

from vebnn.core.types import AnyDataset, Array, Key, Module
from vebnn.inference.engine import Engine, Posterior, Problem
from vebnn.inference.evaluation import Shared, evaluate
from vebnn.networks import Network
from vebnn.training import PlannedStage, Stage


class OnFeatures(eqx.Module):
    """A draw of the head, on the features of a network that all draws share."""

    below: Any  # a network; among stacked draws, one that is shared
    head: Module

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        """Map one example to its outputs."""
        return self.head(self.below.features(x), key=key)


class _Features(eqx.Module):
    network: Network

    def __call__(self, x: Array) -> Array:
        return self.network.features(x)


@dataclass(frozen=True)
class LastLayer(Engine):
    """Another engine, for the head alone; every layer below is that of the first warm start.

    The network must have the parts ``features`` and ``head``, as a :class:`~vebnn.networks.ResNet` has,
    or an Equinox module of your own with a method and a field of these names. The spread then shows
    what is not known of the head; features that the training rows do not need are not questioned.

    Args:
      engine: what explores the posterior of the head.
    """

    engine: Engine

    title = "Last layer"

    @property
    def needs_likelihood(self) -> bool:  # type: ignore[override]
        """As the engine."""
        return self.engine.needs_likelihood

    @property
    def needs_dropout(self) -> bool:  # type: ignore[override]
        """As the engine."""
        return self.engine.needs_dropout

    def with_learning_rate(self, rate: float) -> "LastLayer":
        """Return it with an engine of this learning rate."""
        return replace(self, engine=self.engine.with_learning_rate(rate))

    def check(self, network: Network, x: Array) -> None:
        """Refuse a network without features and head.

        Raises:
          ValueError: naming the networks that have them.
        """
        if network.head is None:
            raise ValueError(
                "The `last_layer` needs a network with the parts `features` and `head`, such as "
                "ResNet(18). Got one without; use last_layer=False."
            )
        self.engine.check(network.head, evaluate(_Features(network), x))

    def posterior_like(self, network: Network) -> OnFeatures:
        """Return a draw of the head on the network's features."""
        assert network.head is not None
        return OnFeatures(Shared(_first(network)), self.engine.posterior_like(network.head))

    def plan(self, name: str, *, refit: bool) -> list[PlannedStage]:
        """Return the stages of its engine."""
        return self.engine.plan(name, refit=refit)

    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        """Return draws of the head, on features of the first warm start."""
        below = _first(problem.starts)

        def on_features(data: AnyDataset | None) -> Any:
            return data and data._replace(x=evaluate(_Features(below), data.x))

        heads = problem._replace(
            data=on_features(problem.data),
            held_out=on_features(problem.held_out),
            starts=jax.tree.map(lambda leaf: leaf[:1], problem.starts).head,
            initialise=lambda keys: problem.initialise(keys).head,  # type: ignore[arg-type,return-value]
        )
        found = self.engine.run(key, heads, stage)
        return found._replace(draws=OnFeatures(Shared(below), found.draws))


def _first(stacked: Network) -> Network:
    return jax.tree.map(lambda leaf: leaf[0], stacked)
