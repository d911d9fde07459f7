import jax
import numpy as np
import pytest

from tests.support.linear import flatten
from vebnn.inference import PSGLD
from vebnn.training import Observer, Stage, Training, all_rows, train
from vebnn.training.checkpoint import Checkpoint


class Recorder(Observer):
    """An observer that remembers, and that may press Ctrl-C."""

    def __init__(self, interrupt_after: int | None = None, inner: Checkpoint | None = None) -> None:
        self.reports: list[tuple[str, int, int, str]] = []
        self.states: list = []
        self.interrupt_after, self.inner = interrupt_after, inner

    def restore(self, stage: str, state):
        return self.inner.restore(stage, state) if self.inner else state

    def report(self, stage: str, state, done: int, total: int, message: str) -> None:
        self.reports.append((stage, done, total, message))
        self.states.append(state)
        if self.inner:
            self.inner.report(stage, state, done, total, message)
        if self.interrupt_after is not None and len(self.reports) >= self.interrupt_after:
            raise KeyboardInterrupt


class StartFrom(Recorder):
    """An observer that puts a state from earlier in place of the start."""

    def __init__(self, state) -> None:
        super().__init__()
        self.state = state

    def restore(self, stage: str, state):
        return self.state


def train_linear(linear, stage: Stage, num_epochs: int = 100):
    starts = jax.tree.map(lambda leaf: leaf[:3], linear.starts)
    settings = Training(num_epochs=num_epochs, learning_rate=0.01, batch_size=16)
    return train(
        jax.random.key(3),
        linear.objective,
        starts,
        linear.data,
        all_rows(61, 3),
        settings,
        watch_rows=all_rows(61, 3),
        stage=stage,
    )


def assert_same(one, other) -> None:
    for mine, yours in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_array_equal(mine, yours)


def test_stage_runs_until_it_is_done() -> None:
    recorder = Recorder()
    asked = []

    def advance(state: int, until: int) -> int:
        asked.append(until)
        return until

    end = Stage("count", recorder).run(
        advance, 0, 1_000, lambda state: state, lambda state: f"at {state}"
    )
    assert end == 1_000
    assert asked[-1] == 1_000
    assert asked == sorted(set(asked))
    assert recorder.reports == [("count", until, 1_000, f"at {until}") for until in asked]


def test_stage_may_end_early() -> None:
    end = Stage("").run(lambda state, until: until, 0, 1_000, lambda state: 1_000 if state else 0, str)
    assert 0 < end < 1_000


def test_finished_stage_is_not_run_again() -> None:
    def advance(state: int, until: int) -> int:
        raise AssertionError("there is nothing left to do")

    assert Stage("").run(advance, 7, 7, lambda state: state, str) == 7


def test_stages_within_stages() -> None:
    recorder = Recorder()
    inner = Stage("", recorder).within("Round 1").within("Step 3")
    assert inner.name == "Round 1 · Step 3"
    assert inner.observer is recorder


def test_observers_change_nothing_and_any_state_can_be_resumed(linear) -> None:
    recorder = Recorder()
    whole = train_linear(linear, Stage("", recorder))
    assert_same(whole, train_linear(linear, Stage("")))
    assert recorder.reports[-1][1:3] == (100, 100)
    assert len(recorder.states) > 1
    for state in recorder.states:
        assert_same(whole, train_linear(linear, Stage("", StartFrom(state))))


def test_interrupted_training_is_resumed_from_its_checkpoint(linear, tmp_path) -> None:
    whole = train_linear(linear, Stage("Step 1"))
    broken = Recorder(interrupt_after=1, inner=Checkpoint(tmp_path, "same"))
    with pytest.raises(KeyboardInterrupt):
        train_linear(linear, Stage("Step 1", broken))
    assert broken.reports[-1][1] < 100
    broken.inner.close(finished=False)
    resumed = Recorder(inner=Checkpoint(tmp_path, "same"))
    assert_same(whole, train_linear(linear, Stage("Step 1", resumed)))
    # It went on from where it was, not from the start.
    assert resumed.reports[0][1] > broken.reports[-1][1]
    # And once finished, there is nothing to do.
    again = Recorder(inner=Checkpoint(tmp_path, "same"))
    assert_same(whole, train_linear(linear, Stage("Step 1", again)))
    assert again.reports == []


def test_interrupted_chains_are_resumed_from_their_checkpoint(linear, tmp_path) -> None:
    engine = PSGLD(num_samples=10, burn_in=30, thinning=5, num_chains=2, batch_size=16)
    whole = engine.run(jax.random.key(4), linear.problem, Stage("Step 3"))
    broken = Recorder(interrupt_after=1, inner=Checkpoint(tmp_path, "same"))
    with pytest.raises(KeyboardInterrupt):
        engine.run(jax.random.key(4), linear.problem, Stage("Step 3", broken))
    broken.inner.close(finished=False)
    resumed = engine.run(
        jax.random.key(4), linear.problem, Stage("Step 3", Checkpoint(tmp_path, "same"))
    )
    np.testing.assert_array_equal(flatten(whole.draws), flatten(resumed.draws))
    np.testing.assert_array_equal(whole.trace, resumed.trace)


def test_checkpoint_of_other_work_is_refused(linear, tmp_path) -> None:
    train_linear(linear, Stage("Step 1", Checkpoint(tmp_path, "mine")))
    with pytest.raises(ValueError, match="was made with other data, settings, random_state"):
        train_linear(linear, Stage("Step 1", Checkpoint(tmp_path, "yours")))
