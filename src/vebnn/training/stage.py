"""Long compiled work in pieces of about a second, so that it can be shown, stopped and resumed.

A stage (say, "Step 1") advances a state to a given epoch, again and again. Between two pieces Python
draws the progress bar, writes a checkpoint and obeys Ctrl-C; the compiled piece is never interrupted.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import jax

from vebnn.training.dealing import are_dealt
from vebnn.training.processes import agreed

State = TypeVar("State")

# Long enough to hide Python's part and the wait for the slowest core; short enough for Ctrl-C.
PIECE_SECONDS = 1.0
DEALT_SECONDS = 4.0  # with a cluster, to which every piece sends the state
FIRST_PIECE = 1


class PlannedStage(NamedTuple):
    """A stage that is to come: its name, and about how many epochs of how many networks it takes."""

    name: str
    epochs: int
    networks: int = 1


class Observer:
    """Follows stages: a progress bar, a checkpoint or a study of the steps. This one does nothing."""

    def expect(self, stages: Sequence[PlannedStage]) -> None:
        """Take note of the stages to come, in their order; they replace those expected before."""

    def restore(self, stage: str, state: State) -> State:
        """Return the saved state of an interrupted ``stage``, or ``state``."""
        return state

    def begin(self, stage: str, done: int, total: int) -> None:
        """Take note that a stage begins, with ``done`` of ``total`` epochs finished before."""

    def report(self, stage: str, state: Any, done: int, total: int, message: str) -> None:
        """Take note that ``done`` of ``total`` epochs of a stage are finished."""

    def finish(self, step: str, so_far: Callable[[], Any]) -> None:
        """Take note that a step of a strategy is finished; ``so_far()`` is the fit if it ended here."""

    def close(self, finished: bool) -> None:
        """End, after the last stage or an interrupt."""


_FOLLOWERS: ContextVar[tuple[Observer, ...]] = ContextVar("followers", default=())


def followers() -> tuple[Observer, ...]:
    """Return the observers that :func:`followed_by` has added."""
    return _FOLLOWERS.get()


@contextmanager
def followed_by(observer: Observer) -> Iterator[None]:
    """Let an observer follow all fits inside the ``with`` block, beside progress and checkpoints."""
    token = _FOLLOWERS.set((*followers(), observer))
    try:
        yield
    finally:
        _FOLLOWERS.reset(token)


@dataclass(frozen=True)
class Stage:
    """A name for a piece of long work, and its observer."""

    name: str
    observer: Observer = field(default_factory=Observer)

    def within(self, name: str) -> "Stage":
        """Return a stage inside this one."""
        return Stage(f"{self.name} · {name}" if self.name else name, self.observer)

    def expect(self, stages: Sequence[PlannedStage]) -> None:
        """Tell the observer which stages are to come, by their whole names."""
        self.observer.expect(stages)

    def finish(self, step: str, so_far: Callable[[], Any]) -> None:
        """Tell the observer that a step is finished."""
        self.observer.finish(step, so_far)

    def run(
        self,
        advance: Callable[[State, int], State],
        state: State,
        total: int,
        position: Callable[[State], int],
        describe: Callable[[State], str],
    ) -> State:
        """Advance ``state`` until ``position(state)`` reaches ``total`` epochs.

        Args:
          advance: compiled function of a state and the epoch to reach.
          state: pytree of arrays, all that the stage needs to continue.
          total: the number of epochs.
          position: the number of finished epochs; ``total`` ends the stage early.
          describe: a few words on a state for the progress bar.
        """
        state = self.observer.restore(self.name, state)
        done = position(state)
        self.observer.begin(self.name, done, total)
        piece = FIRST_PIECE
        while done < total:
            started = time.perf_counter()
            state = jax.block_until_ready(advance(state, min(done + piece, total)))
            seconds = agreed(time.perf_counter() - started)
            # The first pieces include compilation, so grow by at most a factor of eight a time.
            wanted = DEALT_SECONDS if are_dealt() else PIECE_SECONDS
            piece = max(1, min(8 * piece, int(piece * wanted / max(seconds, 1e-6))))
            done = position(state)
            self.observer.report(self.name, state, done, total, describe(state))
        return state


SILENT = Stage("")
