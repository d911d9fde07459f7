"""What a table says of its rows besides inputs and targets: known measurement errors and weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas

from vebnn.tabular.errors import Problems, TableError, counted, quoted_list
from vebnn.tabular.values import to_numbers


@dataclass(frozen=True)
class RowFacts:
    """Measurement errors and weights of the rows of a table."""

    y_std_columns: tuple[str, ...] = ()  # one for each target, or none
    weight_column: str | None = None
    y_std: np.ndarray | None = None  # (rows, targets), in the units of the targets
    weight: np.ndarray | None = None  # (rows,)

    @classmethod
    def read(
        cls,
        frame: pandas.DataFrame,
        targets: Sequence[str],
        y_std: Sequence[str],
        weight: str | None,
    ) -> "RowFacts":
        """Read the columns of measurement errors, one for each target or none, and of weights."""
        problems, errors, weights = Problems(), None, None
        with problems.collected():
            errors = read_y_std(frame, y_std, targets) if y_std else None
        with problems.collected():
            weights = None if weight is None else _read_weight(frame, weight)
        problems.raise_any()
        return cls(tuple(y_std), weight, errors, weights)

    def y_std_of(self, rows: np.ndarray) -> np.ndarray | None:
        """Return the measurement errors of some rows, given by their positions."""
        return None if self.y_std is None else self.y_std[rows]

    def arguments_of(self, rows: np.ndarray) -> dict[str, Any]:
        """Return the arguments of an estimator's ``fit`` for some rows."""
        weight = None if self.weight is None else self.weight[rows]
        return {"y_std": self.y_std_of(rows), "sample_weight": weight}

    def notices(self, targets: Sequence[str]) -> list[str]:
        """Return how these columns are used."""
        pairs = zip(self.y_std_columns, targets, strict=bool(self.y_std_columns))
        found = [
            f"{name}: the known std of the error of {target}; is no input." for name, target in pairs
        ]
        if self.weight_column is not None:
            found.append(
                f"{self.weight_column}: how much each row counts in the training; is no input. Scores "
                f"count all rows alike."
            )
        return found


def read_y_std(frame: pandas.DataFrame, names: Sequence[str], targets: Sequence[str]) -> np.ndarray:
    """Return known measurement errors, ``(rows, targets)``, from one column per target."""
    if len(names) != len(targets):
        raise TableError(
            f"The --y-std must name one column for each of the {counted(len(targets), 'target')}, in "
            f"the order of the targets. Got {counted(len(names), 'column')}: {quoted_list(names)}."
        )
    return np.column_stack([_non_negative(frame, name, "y_std") for name in names])


def _read_weight(frame: pandas.DataFrame, name: str) -> np.ndarray:
    """Return how much each row counts, ``(rows,)``."""
    weight = _non_negative(frame, name, "weight")
    if not weight.any():
        raise TableError(f"The weight {name!r} must not be zero in every row.", name)
    return weight


def _non_negative(frame: pandas.DataFrame, name: str, role: str) -> np.ndarray:
    if name not in frame.columns:
        columns = quoted_list(frame.columns, 12)
        raise TableError(f"There is no column {name!r} for {role}. The columns are {columns}.", name)
    numbers = to_numbers(frame[name])
    if (wrong := ~(numbers >= 0)).any():
        row = int(frame.index[wrong][0])
        value = numbers[wrong][0]
        got = "no value" if np.isnan(value) else f"{value:g}"
        raise TableError(
            f"The {role} {name!r} must be a number of at least 0 in every row, but row {row + 1} has "
            f"{got}. Correct it, or delete the row.",
            name,
            row,
        )
    return numbers
