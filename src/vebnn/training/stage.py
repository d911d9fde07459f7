"""Long compiled work in short pieces, so that people can watch it, stop it and resume it.

A stage (say, "step 1") advances a state to a given epoch, again and again. Between two pieces
Python draws the progress bar, writes a checkpoint and obeys Ctrl-C; the compiled piece itself is
never interrupted, so this costs nothing.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import jax

State = TypeVar("State")

# Long enough that Python's part disappears, and the wait of each core for the slowest at the end of a
# piece; short enough that Ctrl-C is obeyed at once.
PIECE_SECONDS = 1.0
FIRST_PIECE = 16


class Observer(Protocol):
    """Watches stages: a progress bar, a checkpoint file, or both."""

    def restore(self, stage: str, state: State) -> State:
        """Return the state of ``stage`` where an earlier, interrupted run left it, or ``state``."""
        ...

    def report(self, stage: str, state: Any, done: int, total: int, message: str) -> None:
        """Hear that ``done`` of ``total`` epochs of a stage are finished."""
        ...


@dataclass(frozen=True)
class _Silent:
    def restore(self, stage: str, state: State) -> State:
        return state

    def report(self, stage: str, state: Any, done: int, total: int, message: str) -> None:
        pass


@dataclass(frozen=True)
class Stage:
    """A name for a piece of long work, and who watches it."""

    name: str
    observer: Observer = field(default_factory=_Silent)

    def within(self, name: str) -> "Stage":
        """Return a stage inside this one."""
        return Stage(f"{self.name} · {name}" if self.name else name, self.observer)

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
          state: pytree of arrays; it must hold all the stage needs to go on.
          total: the number of epochs; a stage may also end early, by answering ``total``.
          position: how many epochs are behind a state.
          describe: a few words on a state for the progress bar.
        """
        state = self.observer.restore(self.name, state)
        done = position(state)
        piece = FIRST_PIECE
        while done < total:
            started = time.perf_counter()
            state = jax.block_until_ready(advance(state, min(done + piece, total)))
            seconds = time.perf_counter() - started
            # The first pieces include compilation, so grow by at most a factor of eight a time.
            piece = max(1, min(8 * piece, int(piece * PIECE_SECONDS / max(seconds, 1e-6))))
            done = position(state)
            self.observer.report(self.name, state, done, total, describe(state))
        return state


SILENT = Stage("")
