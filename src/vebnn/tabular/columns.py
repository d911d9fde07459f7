"""One column of a table → columns of numbers for the network, as learned from the training rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas

from vebnn.tabular.date_column import DateColumn
from vebnn.tabular.notices import CountedNotice
from vebnn.tabular.values import MISSING, as_number_label, has_leading_zero, to_labels, to_numbers

Encoded = tuple[np.ndarray, list[str]]  # (rows, encoded columns), and notices about the values


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers; a missing value becomes the median, and a second column marks it."""

    kind: ClassVar[str] = "number"
    range_known: ClassVar[bool] = True  # whether low and high are those of the training values
    name: str
    low: float  # smallest training value
    high: float  # largest training value
    median: float  # of the training values
    whole: bool  # whether all training values are whole numbers
    num_missing: int  # in the training rows; if none, there is no second column

    @classmethod
    def fit(cls, name: str, numbers: np.ndarray) -> "NumberColumn":
        """Learn from training values, NaN where missing."""
        present = numbers[~np.isnan(numbers)]
        low, high, median = (float(f(present)) for f in (np.min, np.max, np.median))
        whole = bool(np.all(present == np.round(present)))
        return cls(name, low, high, median, whole, len(numbers) - len(present))

    @property
    def encoded_names(self) -> list[str]:
        """Names of the columns the network sees."""
        return [self.name, f"{self.name} is missing"] if self.num_missing else [self.name]

    @property
    def summary(self) -> str:
        """The range of the training values."""
        return f"{self.low:g} to {self.high:g}"

    @property
    def typical(self) -> float:
        """The median."""
        return self.median

    def widened(self, encoded: np.ndarray) -> "NumberColumn":
        """Return the column with a range that holds more rows, given by its encoded columns."""
        low, high = float(encoded[:, 0].min()), float(encoded[:, 0].max())
        whole = self.whole and bool(np.all(encoded[:, 0] == np.round(encoded[:, 0])))
        return replace(self, low=min(self.low, low), high=max(self.high, high), whole=whole)

    def decode(self, values: np.ndarray) -> float | None:
        """Return the value of one encoded row, None where it was missing."""
        return None if values[1:].any() else float(values[0])

    def encode(self, series: pandas.Series) -> Encoded:
        """Return the values with medians for gaps, and the marks of the gaps."""
        numbers = to_numbers(series)
        missing = np.isnan(numbers)
        filled = np.where(missing, self.median, numbers)
        notices: list[str] = []
        if missing.any():
            number, rest = int(missing.sum()), f" replaced by the median, {self.median:g}."
            notices.append(CountedNotice(f"{self.name}: ", number, "missing value", rest))
        notices += self.notices_of_outside(filled)
        parts = [filled, missing.astype(float)][: len(self.encoded_names)]
        return np.column_stack(parts), notices

    def notices_of_outside(self, numbers: np.ndarray) -> list[str]:
        """Return a notice about numbers outside the training range, if there are any."""
        outside = int(np.sum((numbers < self.low) | (numbers > self.high)))
        if not outside:
            return []
        rest = f" outside the training range, {self.summary}."
        return [CountedNotice(f"{self.name}: ", outside, "value", rest)]


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories, one-hot; a category not seen in training has zeros everywhere."""

    kind: ClassVar[str] = "category"
    name: str
    categories: tuple[str, ...]  # most frequent first; missing values are a category if there are any
    counts: tuple[int, ...]  # training rows of each
    num_other: int  # training rows of categories too rare for a column
    rare: tuple[str, ...] = ()  # these categories; models of table format 3 lack them

    @classmethod
    def fit(cls, name: str, labels: np.ndarray, most: int) -> "CategoryColumn":
        """Learn from training labels; the ``most`` frequent ones get a column each."""
        return cls.of_counts(name, pandas.Series(labels).value_counts().to_dict(), most)

    @classmethod
    def of_counts(cls, name: str, counts: Mapping[str, int], most: int) -> "CategoryColumn":
        """Learn from how often each label appears."""
        # Ties are broken by name, so that the order of the rows does not matter.
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        kept = {str(label): int(count) for label, count in ordered[:most]}
        rare = {str(label): int(count) for label, count in ordered[most:]}
        return cls(name, tuple(kept), tuple(kept.values()), sum(rare.values()), tuple(rare))

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
        """The most frequent categories."""
        return ", ".join(self.categories[:4]) + (", …" if len(self.categories) > 4 else "")

    @property
    def present(self) -> list[str]:
        """The categories without that of missing values."""
        return [label for label in self.categories if label != MISSING]

    @property
    def typical(self) -> str:
        """The most frequent category."""
        return next(iter(self.present), MISSING)

    def labels_of(self, series: pandas.Series) -> np.ndarray:
        """Return labels as the training rows have them: 007 is 7 to a model that has read numbers."""
        labels = to_labels(series)
        known = {*self.categories, *self.rare}
        if any(map(has_leading_zero, known)):
            return labels
        others = {label: as_number_label(label) for label in set(labels) - known}
        return np.array([x if (x := others.get(label)) in known else label for label in labels], object)

    def unseen_as(self, label: str) -> str | None:
        """Return what a category without a column was in training: "rare", "never seen" or either."""
        if label in self.categories:
            return None
        if label in self.rare:
            return f"rare in training: not among the {len(self.categories)} most frequent"
        return "rare or never seen in training" if self._unknown_rare else "never seen in training"

    @property
    def _unknown_rare(self) -> bool:
        return self.num_other > 0 and not self.rare

    def widened(self, encoded: np.ndarray) -> "CategoryColumn":
        """Return the column as it is: more rows add no category."""
        return self

    def decode(self, values: np.ndarray) -> str | None:
        """Return the category of one encoded row, None if it is missing or has no input of its own."""
        label = self.categories[int(np.argmax(values))] if values.any() else MISSING
        return None if label == MISSING else label

    def encode(self, series: pandas.Series) -> Encoded:
        """Return ones and zeros."""
        labels = self.labels_of(series)
        values = (labels[:, None] == np.asarray(self.categories, object)[None, :]).astype(float)
        without: dict[str, list[str]] = {}  # labels of the rows, by what they were in training
        for label in labels[~values.any(1)]:
            without.setdefault(str(self.unseen_as(label)), []).append(label)
        notices: list[str] = []
        for reason, found in without.items():
            rest = f", {reason}; treated as none of the known categories."
            notices.append(CountedNotice(f"{self.name}: ", len(found), "row", rest, found))
        return values, notices


Column = NumberColumn | CategoryColumn | DateColumn
