"""Columns that a pipeline takes as they are, in the form of numbers that reports and curves vary."""

from dataclasses import dataclass

import numpy as np
import pandas

from vebnn.tabular.columns import CategoryColumn, Encoded, NumberColumn
from vebnn.tabular.values import MISSING, refuse_new_gaps, to_numbers

UNSEEN = "(unseen)"  # what the pipeline gets for all labels that are not among the training rows


@dataclass(frozen=True)
class GivenNumber(NumberColumn):
    """A number, NaN where it is missing: the pipeline fills gaps itself."""

    @property
    def encoded_names(self) -> list[str]:
        """Its own name: there is no mark of gaps."""
        return [self.name]

    def decode(self, values: np.ndarray) -> float | None:
        """Return the value of one row, None where it was missing."""
        return None if np.isnan(values[0]) else float(values[0])

    def encode(self, series: pandas.Series) -> Encoded:
        """Return the numbers; there may be gaps if there were some in training."""
        numbers = to_numbers(series)
        if not self.num_missing:
            refuse_new_gaps(series, np.isnan(numbers))
        return numbers[:, None], self.notices_of_outside(numbers)

    def given(self, encoded: np.ndarray) -> np.ndarray:
        """Return what the pipeline takes, from encoded rows."""
        return encoded[:, 0]


@dataclass(frozen=True)
class GivenCategory(CategoryColumn):
    """A text, NaN where it is missing; all labels of the training rows are known."""

    def encode(self, series: pandas.Series) -> Encoded:
        """Return ones and zeros; there may be gaps if there were some in training."""
        if not self.num_missing:
            refuse_new_gaps(series, self.labels_of(series) == MISSING)
        return super().encode(series)

    def given(self, encoded: np.ndarray) -> np.ndarray:
        """Return what the pipeline takes, from encoded rows."""
        labels = [np.nan if label == MISSING else label for label in self.categories]
        which = np.where(encoded.any(1), encoded.argmax(1), len(labels))
        return np.array([*labels, UNSEEN], object)[which]
