"""The columns of a space: how a number between 0 and 1 becomes a value of each."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from vebnn.tabular.dates import written

MOST_STEPS = 1e15  # of a range; double precision counts up to 9e15
DIGITS = 4  # significant ones of the width of a range, in values that have no step


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``, on a grid if there is a ``step``, or spread over decades."""

    name: str
    low: float
    high: float
    step: float | None = None
    log: bool = False

    @property
    def num_levels(self) -> int | None:
        """How many values there are, or None if they are continuous."""
        if self.step is None:
            return None
        return int(np.floor((self.high - self.low) / self.step * (1 + 1e-9) + 1e-9)) + 1

    def values(self, unit: np.ndarray) -> np.ndarray:
        """Return the values at numbers between 0 and 1, as somebody would write them down."""
        if self.step is not None:
            found = self.low + self.step * levels_of(unit, self.num_levels or 1)
            return np.round(found, max(map(_decimals, (self.low, self.step))))
        if self.log:
            found = np.exp((1 - unit) * np.log(self.low) + unit * np.log(self.high))
            exponents = np.floor(np.log10(found)).astype(int)
            found = np.array([round(v, DIGITS - 1 - e) for v, e in zip(found, exponents, strict=True)])
        else:
            found = self.low + (self.high - self.low) * unit
            found = np.round(found, DIGITS - 1 - int(np.floor(np.log10(self.high - self.low))))
        return np.clip(found, self.low, self.high)


@dataclass(frozen=True)
class DateRange:
    """Dates from ``low`` to ``high``, in days since 1970, ``step`` days apart."""

    name: str
    low: float
    high: float
    step: float
    times: bool  # whether they are written with their times

    @property
    def num_levels(self) -> int:
        """How many dates there are."""
        return int(np.floor((self.high - self.low) / self.step + 1e-9)) + 1

    def values(self, unit: np.ndarray) -> np.ndarray:
        """Return the dates at numbers between 0 and 1, as text."""
        days = self.low + self.step * levels_of(unit, self.num_levels)
        return np.array([written(day, time=self.times) for day in days], object)


@dataclass(frozen=True)
class Choice:
    """One of some values, each with its own part of the costs."""

    name: str
    choices: tuple[Any, ...]
    costs: tuple[float, ...] = ()

    @property
    def num_levels(self) -> int:
        """How many values there are."""
        return len(self.choices)

    def values(self, unit: np.ndarray) -> np.ndarray:
        """Return the values at numbers between 0 and 1."""
        places = levels_of(unit, self.num_levels)
        if all(
            isinstance(value, int | float) and not isinstance(value, bool) for value in self.choices
        ):
            return np.asarray(self.choices, float)[places]
        return np.array([self.choices[place] for place in places], object)

    def cost(self, unit: np.ndarray) -> np.ndarray:
        """Return what the value adds to the costs."""
        costs = np.asarray(self.costs or [0.0] * self.num_levels)
        return costs[levels_of(unit, self.num_levels)]


Axis = Range | DateRange | Choice


def levels_of(unit: np.ndarray, number: int) -> np.ndarray:
    """Return the places 0, …, ``number`` − 1, each an equal share of the numbers between 0 and 1."""
    return np.minimum((unit * number).astype(int), number - 1)


def _decimals(value: float) -> int:
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(-int(exponent), 0)
