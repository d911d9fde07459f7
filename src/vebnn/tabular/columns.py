"""One column of a table → columns of numbers a network can use, as learned from the training rows."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas

from vebnn.tabular.errors import TableError, counted, listed
from vebnn.tabular.values import MISSING, first_row, labels_of, numbers_of


class Encoded(NamedTuple):
    """Numbers made from one column, and what the user should hear about it."""

    values: np.ndarray  # (rows, encoded columns)
    notices: list[str]


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers; a missing one becomes the median, and a second column says so.

    Args:
      name: of the column.
      low: smallest training value.
      high: largest training value.
      median: of the training values.
      whole: whether all of them are whole numbers.
      num_missing: missing training values; without any, there is no second column.
    """

    kind: ClassVar[str] = "number"
    name: str
    low: float
    high: float
    median: float
    whole: bool
    num_missing: int

    @classmethod
    def learn(cls, name: str, numbers: np.ndarray) -> "NumberColumn":
        """Learn from numbers, not a number where missing."""
        there = numbers[~np.isnan(numbers)]
        return cls(
            name,
            float(there.min()),
            float(there.max()),
            float(np.median(there)),
            bool(np.all(there == np.round(there))),
            int(len(numbers) - len(there)),
        )

    @property
    def encoded_names(self) -> list[str]:
        """Names of the columns the network sees."""
        return [self.name, f"{self.name} is missing"] if self.num_missing else [self.name]

    @property
    def summary(self) -> str:
        """The training values, in a few words."""
        return f"{self.low:g} to {self.high:g}"

    @property
    def typical(self) -> float:
        """The value to use where no other is given."""
        return self.median

    def encode(self, series: pandas.Series) -> Encoded:
        """Turn values into numbers.

        Raises:
          TableError: if a value is text or infinite.
        """
        numbers = numbers_of(series)
        missing = np.isnan(numbers)
        notices = []
        if missing.any():
            notices.append(
                f"{self.name}: {counted(int(missing.sum()), 'missing value')} replaced by the median, "
                f"{self.median:g}."
            )
        filled = np.where(missing, self.median, numbers)
        outside = int(np.sum((filled < self.low) | (filled > self.high)))
        if outside:
            notices.append(
                f"{self.name}: {counted(outside, 'value')} outside the training range, "
                f"{self.low:g} to {self.high:g}."
            )
        parts = [filled, missing.astype(float)][: len(self.encoded_names)]
        return Encoded(np.column_stack(parts), notices)


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories, one-hot; a category not seen in training has zeros everywhere.

    Args:
      name: of the column.
      categories: labels, most frequent first; missing values are a category if there were any.
      counts: training rows of each.
      num_other: training rows of categories too rare to have a column.
    """

    kind: ClassVar[str] = "category"
    name: str
    categories: tuple[str, ...]
    counts: tuple[int, ...]
    num_other: int

    @classmethod
    def learn(cls, name: str, labels: np.ndarray, most: int) -> "CategoryColumn":
        """Learn from labels; at most ``most`` of them get a column."""
        found = pandas.Series(labels).value_counts()
        # Equally frequent ones by name, so that the order of the rows does not matter.
        ordered = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
        kept = ordered[:most]
        return cls(
            name,
            tuple(label for label, _ in kept),
            tuple(int(count) for _, count in kept),
            int(sum(count for _, count in ordered[most:])),
        )

    @property
    def num_missing(self) -> int:
        """Missing training values."""
        return dict(zip(self.categories, self.counts, strict=True)).get(MISSING, 0)

    @property
    def encoded_names(self) -> list[str]:
        """Names of the columns the network sees."""
        return [f"{self.name} = {label}" for label in self.categories]

    @property
    def summary(self) -> str:
        """The training values, in a few words."""
        return ", ".join(self.categories[:4]) + (", …" if len(self.categories) > 4 else "")

    @property
    def typical(self) -> str:
        """The value to use where no other is given."""
        return next((label for label in self.categories if label != MISSING), MISSING)

    def encode(self, series: pandas.Series) -> Encoded:
        """Turn values into ones and zeros."""
        labels = labels_of(series)
        values = (labels[:, None] == np.asarray(self.categories, object)[None, :]).astype(float)
        unseen = ~values.any(1)
        notices = []
        if unseen.any() and not self.num_other:
            names = pandas.unique(labels[unseen])
            notices.append(
                f"{self.name}: {counted(int(unseen.sum()), 'row')} with "
                f"{listed(names)}, never seen in training; treated as none of the known categories."
            )
        return Encoded(values, notices)


Column = NumberColumn | CategoryColumn
_KINDS: dict[str, Any] = {kind.kind: kind for kind in (NumberColumn, CategoryColumn)}


def describe_column(column: Column) -> dict[str, Any]:
    """Return a column as JSON."""
    return {"kind": column.kind, **asdict(column)}


def revive_column(description: dict[str, Any]) -> Column:
    """Return a column from what :func:`describe_column` said."""
    settings = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in description.items()
        if name != "kind"
    }
    return _KINDS[description["kind"]](**settings)


def check_whole_target(name: str, numbers: np.ndarray, index: pandas.Index) -> None:
    """Refuse targets that are missing."""
    missing = np.isnan(numbers)
    if missing.any():
        row = first_row(missing, index)
        raise TableError(
            f"The target {name!r} is missing in {counted(int(missing.sum()), 'row')}, first in row "
            f"{row + 1}. Fill in or delete these rows.",
            name,
            row,
        )
