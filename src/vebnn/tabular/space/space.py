"""A space of possible measurements, and candidates drawn from it."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas
from scipy.stats import qmc

from vebnn.tabular.errors import Problems, TableError, counted, quoted
from vebnn.tabular.space.axes import Axis, Choice, DateRange
from vebnn.tabular.space.expression import Expression
from vebnn.tabular.values import to_label

NUM_CANDIDATES = 4_096  # a power of 2, as Sobol points ask for
MOST_BLOCKS = 64  # of as many points, in search of candidates that meet the constraints


class Drawn(NamedTuple):
    """Candidates, with a column for each of the space."""

    frame: pandas.DataFrame
    cost: np.ndarray | None  # (rows,), if the space has costs
    share: float  # of the points tried that met the constraints
    complete: bool  # whether these are all candidates there are


@dataclass(frozen=True)
class Formula:
    """A column that follows from others, such as the rest of a mixture."""

    name: str
    expression: Expression


@dataclass(frozen=True)
class Space:
    """What can be measured: a range or some values for each column, constraints, and costs."""

    axes: tuple[Axis, ...]
    formulas: tuple[Formula, ...] = ()
    constraints: tuple[Expression, ...] = ()
    cost: Expression | None = None

    @property
    def has_costs(self) -> bool:
        """Whether measurements differ in their costs."""
        return self.cost is not None or any(isinstance(one, Choice) and one.costs for one in self.axes)

    @cached_property
    def num_combinations(self) -> int | None:
        """How many candidates there are without constraints; None if a column is continuous."""
        total = 1
        for axis in self.axes:
            if axis.num_levels is None:
                return None
            total *= axis.num_levels
        return total

    def check(self) -> None:
        """Refuse expressions that name unknown columns, or mix numbers, categories and comparisons."""
        problems, middle = Problems("space"), np.full((1, len(self.axes)), 0.5)
        frame = pandas.DataFrame()
        with problems.collected():
            frame, _ = self._at(middle)
        problems.raise_any()
        for one in self.constraints:
            with problems.collected():
                one.truth(self._columns(frame), 1)
        problems.raise_any()

    def draw(self, number: int = NUM_CANDIDATES, seed: int = 0) -> Drawn:
        """Return candidates that meet the constraints: all of them, or points spread evenly.

        Points are those of a scrambled Sobol sequence (Owen 1998), which leaves smaller gaps than
        random numbers do.

        Raises:
          TableError: if no point meets the constraints, or a cost is not positive.
        """
        complete = self.num_combinations is not None and self.num_combinations <= number
        frames, costs, met, tried = [], [], 0, 0
        passed = np.zeros(len(self.constraints), int)
        sequence = qmc.Sobol(len(self.axes), scramble=True, seed=seed)
        for _ in range(1 if complete else MOST_BLOCKS):
            unit = self._grid() if complete else sequence.random(number)
            frame, cost = self._at(unit)
            each = self._truths(frame)
            inside = each.all(0) & self._finite(frame)
            passed, met, tried = passed + each.sum(1), met + int(inside.sum()), tried + len(unit)
            frames.append(frame[inside])
            costs.append(cost[inside])
            if met >= number:
                break
        if met == 0:
            self._refuse(passed, tried)
        frame, cost = pandas.concat(frames, ignore_index=True), np.concatenate(costs)
        kept = np.flatnonzero(~frame.duplicated())[:number]
        frame, cost = frame.iloc[kept].reset_index(drop=True), cost[kept]
        if self.has_costs:
            _check_costs(cost, frame)
        return Drawn(frame, cost if self.has_costs else None, met / tried, complete)

    def _grid(self) -> np.ndarray:
        """Return a point in the middle of each combination of levels."""
        levels = [(np.arange(n) + 0.5) / n for n in (axis.num_levels or 1 for axis in self.axes)]
        return np.stack([part.ravel() for part in np.meshgrid(*levels, indexing="ij")], axis=1)

    def _at(self, unit: np.ndarray) -> tuple[pandas.DataFrame, np.ndarray]:
        """Return the columns, and the cost, at points of the unit cube."""
        frame = pandas.DataFrame(
            {axis.name: axis.values(at) for axis, at in zip(self.axes, unit.T, strict=True)}
        )
        columns = self._columns(frame)
        for one in self.formulas:
            frame[one.name] = one.expression.numbers(columns, len(frame))
        columns = self._columns(frame)
        cost = np.zeros(len(frame))
        if self.cost is not None:
            cost = cost + self.cost.numbers(columns, len(frame))
        for axis, at in zip(self.axes, unit.T, strict=True):
            if isinstance(axis, Choice):
                cost = cost + axis.cost(at)
        return frame, cost

    def _columns(self, frame: pandas.DataFrame) -> dict[str, np.ndarray]:
        """Return columns as expressions take them: numbers, or labels of categories; no dates."""
        dates = {axis.name for axis in self.axes if isinstance(axis, DateRange)}
        columns = {name: frame[name].to_numpy() for name in frame.columns if name not in dates}
        return {
            name: np.array([to_label(value) for value in values], object)
            if values.dtype == object
            else values
            for name, values in columns.items()
        }

    def _truths(self, frame: pandas.DataFrame) -> np.ndarray:
        """Return which constraint each row meets, ``(constraints, rows)``."""
        columns, num_rows = self._columns(frame), len(frame)
        truths = [one.truth(columns, num_rows) for one in self.constraints]
        return np.array(truths, bool).reshape(len(truths), num_rows)

    def _finite(self, frame: pandas.DataFrame) -> np.ndarray:
        """Return for each row whether its formulas have a value."""
        names = [one.name for one in self.formulas]
        return np.isfinite(frame[names].to_numpy(float)).all(1)

    def _refuse(self, passed: np.ndarray, tried: int) -> None:
        points = counted(tried, "point")
        if not self.constraints or passed.min() == tried:
            raise TableError(f"At none of {points} of the space do all formulas have a finite value.")
        worst = self.constraints[int(np.argmin(passed))]
        if passed.min() == 0:
            raise TableError(
                f"None of {points} of the space meets the constraint {quoted(worst.text)}. Widen the "
                f"ranges or the constraint; a column that others determine can have a formula."
            )
        raise TableError(
            f"None of {points} of the space meets all constraints; fewest, {passed.min():,}, meet "
            f"{quoted(worst.text)}. Widen the ranges or the constraints."
        )


def _check_costs(costs: np.ndarray, frame: pandas.DataFrame) -> None:
    wrong = ~((costs > 0) & np.isfinite(costs))
    if wrong.any():
        row = int(np.argmax(wrong))
        place = ", ".join(f"{name} = {value}" for name, value in frame.iloc[row].items())
        raise TableError(
            f"The cost must be a positive number for every candidate. Got {costs[row]:g} for {place}; "
            f"correct the cost in the space file."
        )
