import time
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
import pytest

from vebnn.core.types import NoisyDataset
from vebnn.inference import PSGHMC, Engine, Posterior, Problem
from vebnn.inference.continuing import last_draws, run_until_mixed
from vebnn.training import SILENT

PROBES = np.zeros((5, 1), np.float32)
COLUMN = np.ones((5, 1), np.float32)
DATA = NoisyDataset(PROBES, COLUMN, COLUMN, COLUMN)


def constant(value: Any, x: Any) -> Any:
    """A network whose output is its only weight, whatever the input."""
    return value[None]


@dataclass(frozen=True)
class Wander(Engine):
    """Chains that stand apart until a continuation is long enough."""

    mixes_at: int
    length: int = 1
    seconds: float = 0.0
    runs: list[tuple[int, Any]] = field(default_factory=list)

    def continued(self, factor: int) -> "Wander":
        return Wander(self.mixes_at, factor, self.seconds, self.runs)

    def run(self, key: Any, problem: Problem, stage: Any) -> Posterior:
        self.runs.append((self.length, problem.starts))
        time.sleep(self.seconds)
        rng = np.random.default_rng(self.length)
        apart = 0.0 if self.length >= self.mixes_at else 10.0
        values = rng.normal(size=(3, 20)) + apart * np.arange(3)[:, None]
        draws = jax.tree_util.Partial(constant, np.float32(values))
        return Posterior(draws, np.zeros((3, 1)), True, {})


def run(engine: Wander, **limits: Any) -> Posterior:
    problem = Problem(None, DATA, None, None, np.arange(0))  # type: ignore[arg-type]
    settings = {"most_continuations": 2, "deadline": None} | limits
    return run_until_mixed(jax.random.key(0), engine, problem, SILENT, PROBES, **settings)


def test_chains_that_agree_are_not_continued() -> None:
    engine = Wander(mixes_at=1)
    run(engine)
    assert [length for length, _ in engine.runs] == [1]


def test_chains_go_on_from_their_ends_twice_as_long_until_they_agree() -> None:
    engine = Wander(mixes_at=4)
    posterior = run(engine)
    assert [length for length, _ in engine.runs] == [1, 2, 4]
    # The second run starts where the first ended.
    first = np.random.default_rng(1).normal(size=(3, 20)) + 10.0 * np.arange(3)[:, None]
    np.testing.assert_allclose(jax.tree.leaves(engine.runs[1][1])[0], first[:, -1], rtol=1e-6)
    np.testing.assert_array_equal(
        jax.tree.leaves(last_draws(posterior))[0], jax.tree.leaves(posterior.draws)[0][:, -1]
    )


def test_the_number_of_continuations_is_limited() -> None:
    engine = Wander(mixes_at=100)
    run(engine)
    assert [length for length, _ in engine.runs] == [1, 2, 4]
    engine = Wander(mixes_at=100)
    run(engine, most_continuations=0)
    assert len(engine.runs) == 1


def test_a_deadline_replaces_the_number() -> None:
    engine = Wander(mixes_at=32)
    run(engine, deadline=time.monotonic() + 60)
    assert [length for length, _ in engine.runs] == [1, 2, 4, 8, 16, 32]
    # A continuation is expected to take twice as long as the run before.
    engine = Wander(mixes_at=32, seconds=0.2)
    run(engine, deadline=time.monotonic() + 0.5)
    assert len(engine.runs) == 1


def test_a_sampler_continues_with_draws_further_apart() -> None:
    sampler = PSGHMC(burn_in=30, thinning=5)
    assert sampler.continued(4) == PSGHMC(burn_in=30, thinning=20)


def test_few_draws_say_nothing() -> None:
    class Few(Wander):
        def run(self, key: Any, problem: Problem, stage: Any) -> Posterior:
            found = super().run(key, problem, stage)
            return found._replace(draws=jax.tree.map(lambda leaf: leaf[:, :4], found.draws))

    engine = Few(mixes_at=100)
    run(engine)
    assert len(engine.runs) == 1


@pytest.mark.parametrize(("noise", "runs"), [(9_000.0, 3), (11_000.0, 1)])
def test_chains_of_large_tables_may_differ_by_less_than_the_noise(
    monkeypatch: pytest.MonkeyPatch, noise: float, runs: int
) -> None:
    # Chains at 0, 10 and 20, with a variance of 100 between them: a hundredth of 10,000.
    monkeypatch.setattr(f"{__name__}.DATA", DATA._replace(noise_variance=noise * COLUMN))
    engine = Wander(mixes_at=9)
    monkeypatch.setattr("vebnn.inference.continuing.MANY", 4)
    run(engine)
    assert len(engine.runs) == runs
    monkeypatch.setattr("vebnn.inference.continuing.MANY", 5)
    engine = Wander(mixes_at=9)
    run(engine)
    assert len(engine.runs) == 3
