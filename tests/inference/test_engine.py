"""The contract of engines: what a problem offers, and what an engine declares."""

from dataclasses import dataclass, field

import jax
import numpy as np
import pytest

from tests.support.linear import flatten
from vebnn import MAP, PSGLD, Training
from vebnn.inference import ENGINES, Engine
from vebnn.inference.engine import PointEngine
from vebnn.training import SILENT


@dataclass(frozen=True)
class Plain(Engine):
    """An engine that declares nothing."""

    def run(self, key, problem, stage):
        raise AssertionError("run")


@dataclass(frozen=True)
class Point(PointEngine):
    """An engine that minimises."""

    training: Training = field(default_factory=lambda: Training(7))

    def run(self, key, problem, stage):
        raise AssertionError("run")


def test_starts_are_reused_in_turn_for_more_chains(linear) -> None:
    two = linear.problem._replace(starts=jax.tree.map(lambda leaf: leaf[:2], linear.starts))
    starts = flatten(two.warm_starts(5))
    np.testing.assert_array_equal(starts[[0, 1, 4]], flatten(linear.starts)[[0, 1, 0]])
    np.testing.assert_array_equal(starts[2:4], starts[:2])


def test_without_validation_rows_the_training_rows_are_watched(linear, key: jax.Array) -> None:
    settings = Training(num_epochs=30, learning_rate=1e-2, batch_size=100)
    problem = linear.problem._replace(validation_rows=np.arange(0))
    trained, epochs = problem.train_to_best_epoch(key, key, linear.starts, settings, SILENT)
    # The loss of the training rows falls to the last epoch.
    np.testing.assert_array_equal(epochs, 30)
    assert flatten(trained.params).shape == (8, 3)


def test_an_engine_needs_a_likelihood_unless_it_declares_otherwise() -> None:
    assert Plain.needs_likelihood
    assert not Point.needs_likelihood
    assert not Plain.needs_dropout
    assert not Plain.mean_field


def test_defaults_of_an_engine() -> None:
    engine = Plain()
    assert Plain.for_rows(10) == engine
    assert engine.num_starts == 1
    assert engine.with_learning_rate(0.1) is engine
    assert engine.with_short_steps() is engine
    network = object()
    assert engine.posterior_like(network) is network
    engine.check(network, np.zeros((3, 1)))


def test_an_engine_that_minimises_takes_a_learning_rate() -> None:
    assert Point().with_learning_rate(0.1) == Point(Training(7, learning_rate=0.1))


def test_short_steps_of_psgld_are_constant_and_the_papers() -> None:
    short = PSGLD.for_rows(50).with_short_steps()
    assert (short.step_size, short.decay) == (1e-3, 1.0)
    assert short.burn_in == PSGLD.for_rows(50).burn_in


def test_titles_are_unique_and_default_to_the_name_of_the_class() -> None:
    assert Plain.title == "Plain"
    assert MAP.title == "MAP"
    assert len({engine.title for engine in ENGINES.values()}) == len(ENGINES)


def test_a_subclass_does_not_inherit_a_title() -> None:
    @dataclass(frozen=True)
    class Mine(PSGLD):
        pass

    assert Mine.title == "Mine"


def test_an_engine_without_run_cannot_be_made() -> None:
    class Idle(Engine):
        pass

    with pytest.raises(TypeError, match=r"abstract method '?run"):
        Idle()
