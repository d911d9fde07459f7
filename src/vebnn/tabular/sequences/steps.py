"""Rows of a long table ↔ padded arrays of whole sequences."""

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from vebnn.estimators.preprocessing import pad_sequences


@dataclass(frozen=True)
class Steps:
    """Chosen rows of a table whose rows are the steps of sequences.

    The rows that are not chosen, such as those without a target, remain: a prediction depends on all
    steps before it.
    """

    values: np.ndarray = field(repr=False)  # (rows, features), of all rows, in the order of the table
    sequence: np.ndarray = field(repr=False)  # (rows,), the number of each row's sequence
    place: np.ndarray = field(repr=False)  # (rows,), the step of each row within it, from 0
    chosen: np.ndarray = field(repr=False)  # positions of the chosen rows

    def __len__(self) -> int:
        return len(self.chosen)

    def __getitem__(self, rows: Any) -> Self:
        """Choose some of the chosen rows, by their positions or by a mask."""
        return replace(self, chosen=self.chosen[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.values[self.chosen], dtype)

    @property
    def sequence_of_rows(self) -> np.ndarray:
        """The number of each chosen row's sequence."""
        return self.sequence[self.chosen]

    @cached_property
    def _numbers(self) -> np.ndarray:
        """Numbers of the sequences with a chosen row: the first axis of the padded arrays."""
        return np.unique(self.sequence_of_rows)

    @cached_property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """Where each chosen row is in the padded arrays: which sequence, which step."""
        return np.searchsorted(self._numbers, self.sequence_of_rows), self.place[self.chosen]

    @cached_property
    def _rows_in_order(self) -> list[np.ndarray]:
        """The rows of each sequence in the order of its steps, by the number of the sequence."""
        order = np.lexsort((self.place, self.sequence))
        ends = np.cumsum(np.bincount(self.sequence))[:-1]
        return np.split(order, ends)

    def padded(self, multiple: int = 1) -> np.ndarray:
        """Return the sequences with a chosen row, ``(sequences, time, features)``.

        The time is rounded up to a ``multiple``: every other length is a program to compile.
        """
        length = self._length(multiple)
        arrays = [self.values[self._rows_in_order[number]] for number in self._numbers]
        gap = np.full((length, self.values.shape[1]), np.nan)
        return pad_sequences([*arrays, gap])[:-1]

    def _length(self, multiple: int = 1) -> int:
        longest = max(len(self._rows_in_order[number]) for number in self._numbers)
        return -(-longest // multiple) * multiple

    def spread(self, values: np.ndarray, fill: float, multiple: int = 1) -> np.ndarray:
        """Return values of the chosen rows at their places, ``(sequences, time, ...)``."""
        found = np.full((len(self._numbers), self._length(multiple), *values.shape[1:]), fill)
        found[self.places] = values
        return found

    def first_of_each(self, values: np.ndarray) -> np.ndarray:
        """Return the value of the first chosen row of each sequence."""
        _, first = np.unique(self.sequence_of_rows, return_index=True)
        return values[first]

    def histories(self) -> list[bytes]:
        """Return a digest of each chosen row and all steps before it."""
        return [self._digests[row] for row in self.chosen.tolist()]

    def wholes(self) -> list[bytes]:
        """Return a digest of the whole sequence of each chosen row."""
        last = [self._digests[rows[-1]] for rows in self._rows_in_order]
        return [last[number] for number in self.sequence_of_rows.tolist()]

    @cached_property
    def _digests(self) -> list[bytes]:
        """A digest of each row, which includes that of the step before it."""
        # Adding zero turns −0 into 0, which is the same number in other bits.
        contents = self.values.astype("<f8") + 0.0
        found = [b""] * len(contents)
        for rows in self._rows_in_order:
            before = b""
            for row in rows.tolist():
                before = hashlib.blake2b(before + contents[row].tobytes(), digest_size=16).digest()
                found[row] = before
        return found
