"""How far a whole fit is, and how long it will still take."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vebnn.training.stage import PlannedStage

_ROUND = re.compile(r"^Round \d+ · ")


@dataclass
class _Begun:
    """A stage that has begun; times are those of the clock."""

    plan: PlannedStage
    total: int  # epochs at most
    before: int  # epochs that were finished before it began here: it was resumed
    done: int
    began: float
    ended: float | None = None
    first: tuple[float, int] | None = None  # time and epochs of the first report
    last: tuple[float, int] | None = None  # of the last report before the end

    @property
    def program(self) -> tuple[str, int]:
        """Its kind and its length, of which a compiled program is."""
        return _program_of(self.plan)

    @property
    def seconds_per_epoch(self) -> float | None:
        """Seconds per epoch, without the time to compile; None if not known."""
        if self.first is None or self.last is None or self.last[1] == self.first[1]:
            return None
        return (self.last[0] - self.first[0]) / (self.last[1] - self.first[1])

    @property
    def epochs_left(self) -> float:
        """Epochs still to come: as planned or, beyond the plan, half of those that are possible."""
        if self.done >= self.total or self.ended is not None:
            return 0.0
        planned = min(self.plan.epochs, self.total)
        return planned - self.done if self.done < planned else (self.total - self.done) / 2


def _program_of(plan: PlannedStage) -> tuple[str, int]:
    """Return what a stage does in any round, and its length."""
    return _ROUND.sub("", plan.name), plan.epochs


class Forecast:
    """The share of a fit that is done, and the seconds left, from its plan and its pace so far.

    A stage takes as long per epoch as an earlier one of its kind. Before there is one, the pace is that
    of the other stages per epoch and network, and compiling takes as long as theirs did. Where the plan
    changes, the share may go back: rounds, and chains that disagree, take an unknown time.

    Args:
      clock: returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._started = clock, clock()
        self._begun: list[_Begun] = []
        self._coming: list[PlannedStage] = []

    def expect(self, stages: Sequence[PlannedStage]) -> None:
        """Take note of the stages to come."""
        self._coming = list(stages)

    def begin(self, name: str, done: int, total: int) -> None:
        """Begin a stage; those expected before it are left out."""
        self._end()
        names = [one.name for one in self._coming]
        if name in names:
            at = names.index(name)
            plan, self._coming = self._coming[at], self._coming[at + 1 :]
        else:
            plan = PlannedStage(name, total, self._networks_like(name))
        self._begun.append(_Begun(plan, total, before=done, done=done, began=self._clock()))
        if done >= total:
            self._end()

    def advance(self, done: int) -> None:
        """Take note of the epochs of the stage under way."""
        stage, now = self._begun[-1], self._clock()
        stage.done = done
        if stage.first is None:
            stage.first = now, done
        if done < stage.total:  # at the end, a stage that is stopped early jumps
            stage.last = now, done
        else:
            self._end()

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the end; None until a pace is known."""
        return None if self._pace() is None else self._left(self._pace() or 0)

    @property
    def share(self) -> float:
        """The share of the whole work that is done, from 0 to 1."""
        pace = self._pace()
        # Before anything is known, only shares matter.
        unit = pace or 1.0
        spent = sum(self._seconds_per_epoch(one.plan, unit) * one.before for one in self._begun)
        if pace is not None:
            spent += self._clock() - self._started
        left = self._left(unit)
        return spent / (spent + left) if spent + left > 0 else 0.0

    def _end(self) -> None:
        if self._begun and self._begun[-1].ended is None:
            self._begun[-1].ended = self._clock()

    def _left(self, pace: float) -> float:
        seconds = 0.0
        if self._begun:
            stage = self._begun[-1]
            seconds += self._seconds_per_epoch(stage.plan, pace) * stage.epochs_left
        compiled = {one.program for one in self._begun if one.first is not None}
        compiling = self._seconds_to_compile()
        for plan in self._coming:
            seconds += self._seconds_per_epoch(plan, pace) * plan.epochs
            if _program_of(plan) not in compiled:
                seconds += compiling
                compiled.add(_program_of(plan))
        return seconds

    def _seconds_per_epoch(self, plan: PlannedStage, pace: float) -> float:
        for one in reversed(self._begun):
            if one.program[0] == _program_of(plan)[0] and one.seconds_per_epoch is not None:
                return one.seconds_per_epoch
        return pace * plan.networks

    def _pace(self) -> float | None:
        """Return seconds per epoch and network, over all stages; None if not known."""
        seconds = work = 0.0
        for one in self._begun:
            if one.first and one.last and one.seconds_per_epoch is not None:
                seconds += one.last[0] - one.first[0]
                work += (one.last[1] - one.first[1]) * one.plan.networks
        return seconds / work if work else None

    def _seconds_to_compile(self) -> float:
        """Return the mean time from the beginning of a new program to its first report."""
        first: dict[tuple[str, int], float] = {}
        for one in self._begun:
            if one.first is not None:
                first.setdefault(one.program, one.first[0] - one.began)
        return sum(first.values()) / len(first) if first else 0.0

    def _networks_like(self, name: str) -> int:
        """Return the networks of the stage that an unexpected one belongs to, such as chains."""
        return next(
            (one.plan.networks for one in reversed(self._begun) if name.startswith(one.plan.name)), 1
        )
