"""Small settings for tests: quick, and too short to judge a method by."""

from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from vebnn import MLP, PSGLD, JointRegressor, MixtureRegressor, Training, VeBNNRegressor
from vebnn.core.types import Key
from vebnn.estimators import Regressor
from vebnn.inference import ENGINES, Engine, Posterior, Problem
from vebnn.inference.engine import PointEngine
from vebnn.training import Stage

QUICK = {
    "network": MLP((16,), "tanh"),
    "variance_network": MLP((4,), "tanh"),
    "inference": PSGLD(num_samples=20, burn_in=100, thinning=5, num_chains=2, step_size=1e-2),
    "mean_training": Training(num_epochs=300, learning_rate=1e-2),
    "variance_training": Training(num_epochs=100, learning_rate=1e-2),
    "num_folds": 3,
    "random_state": 0,
}


def quick(**changes) -> VeBNNRegressor:
    return VeBNNRegressor(**(QUICK | changes))


BRIEF = Training(num_epochs=60, learning_rate=1e-2)  # one batch: random orders do not matter


def quick_joint(**changes) -> JointRegressor:
    plain = {"network": MLP((5,), "tanh"), "training": BRIEF, "random_state": 0}
    return JointRegressor(**(plain | changes))


@dataclass(frozen=True)
class Stay(PointEngine):
    """An engine that takes the warm start for the whole posterior, and notes what it was given."""

    training: Training = BRIEF
    problems: list[Problem] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        self.problems.append(problem)
        self.rates.append(self.training.learning_rate)
        draws = jax.tree.map(lambda leaf: leaf[:1, None], problem.starts)
        return Posterior(draws, np.zeros((1, 1)), False, {})


# For suites in which every engine takes part: a few epochs, and two or three mini-batches in each.
SHORT = Training(num_epochs=6, batch_size=16, patience=3)
_CHAINS = {"num_samples": 4, "burn_in": 3, "thinning": 2, "num_chains": 2}
_BATCHES = _CHAINS | {"batch_size": 16}

# A new engine is one more row: its name → small settings, and the (chains, draws) they ask for.
SMALL_ENGINES: dict[str, tuple[dict[str, Any], tuple[int, int]]] = {
    "map": ({"training": SHORT}, (1, 1)),
    "ensemble": ({"training": SHORT, "num_members": 3}, (3, 1)),
    "mc_dropout": ({"training": SHORT, "num_samples": 5}, (1, 5)),
    "bbb": ({"training": SHORT, "num_samples": 4, "num_members": 2}, (2, 4)),
    "laplace": ({"training": SHORT, "num_samples": 5}, (1, 5)),
    "sgld": (_BATCHES | {"pilot": 50}, (2, 4)),
    "psgld": (_BATCHES, (2, 4)),
    "sghmc": (_BATCHES | {"pilot": 50}, (2, 4)),
    "mclmc": (_CHAINS | {"burn_in": 30}, (2, 4)),
    "nuts": (_CHAINS | {"burn_in": 30, "max_tree_depth": 5}, (2, 4)),
    "psghmc": (_BATCHES, (2, 4)),
}


def small_engine(name: str) -> Engine:
    return ENGINES[name](**SMALL_ENGINES[name][0])


def small_network(engine: str) -> MLP:
    # Enough units that no two of a few masks are likely to be the same.
    return MLP((30,), "tanh", dropout_rate=0.3) if engine == "mc_dropout" else MLP((4,), "tanh")


def small_model(strategy: str, engine: str, random_state: int = 0) -> Regressor:
    """Return an estimator of any strategy, with any engine."""
    every = {
        "network": small_network(engine),
        "inference": small_engine(engine),
        "random_state": random_state,
    }
    if strategy == "joint":
        return JointRegressor(training=SHORT, **every)
    steps = {
        "variance_network": MLP((3,), "tanh"),
        "mean_training": SHORT,
        "variance_training": SHORT,
        "num_folds": 2,
    }
    if strategy == "mixture":
        return MixtureRegressor(num_starts=2, em_steps=2, **steps, **every)
    return VeBNNRegressor(**steps, **every)


MIXTURE = {
    "network": MLP((16,), "tanh"),
    "variance_network": MLP((4,), "tanh"),
    "inference": PSGLD(
        num_samples=20, burn_in=100, thinning=5, num_chains=2, step_size=1e-3, decay=1.0
    ),
    "mean_training": Training(num_epochs=500, learning_rate=1e-2),
    "variance_training": Training(num_epochs=200, learning_rate=1e-2),
    "num_folds": 2,
    "num_starts": 2,
    "em_steps": 2,
    "random_state": 0,
}


def quick_mixture(**changes) -> MixtureRegressor:
    return MixtureRegressor(**(MIXTURE | changes))
