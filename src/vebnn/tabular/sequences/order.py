"""Which rows of a long table are one sequence, and in which order."""

from typing import NamedTuple

import numpy as np
import pandas

from vebnn.tabular.errors import TableError, counted, quoted
from vebnn.tabular.time_order import TimeOrder
from vebnn.tabular.values import MISSING, to_labels


class SequenceOrder(NamedTuple):
    """The sequence of each row, and its step there."""

    number: np.ndarray  # (rows,), from 0, in the order of the first rows
    place: np.ndarray  # (rows,), from 0
    labels: tuple[str, ...]  # of the sequences
    notices: tuple[str, ...]

    @classmethod
    def read(cls, frame: pandas.DataFrame, sequence: str, step: str) -> "SequenceOrder":
        """Read both columns; the index of the rows is their position in the user's table.

        Raises:
          TableError: if a label or a step is missing, or two rows of a sequence have the same step.
        """
        labels = to_labels(frame[sequence])
        if (missing := labels == MISSING).any():
            row = int(frame.index[missing][0])
            raise TableError(
                f"The sequence {sequence!r} is missing in {counted(int(missing.sum()), 'row')}, first "
                f"in row {row + 1}. Fill it in, or delete these rows.",
                sequence,
                row,
            )
        times = TimeOrder.read(frame, step, role="step").times
        names: dict[str, int] = {}
        number = np.array([names.setdefault(label, len(names)) for label in labels.tolist()], int)
        order = np.lexsort((times, number))
        same = (np.diff(number[order]) == 0) & (np.diff(times[order]) == 0)
        if same.any():
            _refuse_repeated(frame, sequence, step, labels, order, np.flatnonzero(same))
        sizes = np.bincount(number)
        starts = np.cumsum(sizes) - sizes
        place = np.empty(len(order), int)
        place[order] = np.arange(len(order)) - np.repeat(starts, sizes)
        return cls(number, place, tuple(names), tuple(_notices(frame, sequence, step, number, place)))


def _refuse_repeated(
    frame: pandas.DataFrame,
    sequence: str,
    step: str,
    labels: np.ndarray,
    order: np.ndarray,
    repeats: np.ndarray,
) -> None:
    first, second = sorted(order[repeats[0] : repeats[0] + 2].tolist())
    rows = frame.index[[first, second]] + 1
    value = quoted(frame[step].iloc[first])
    others = f", and {counted(len(repeats) - 1, 'step')} more" if len(repeats) > 1 else ""
    raise TableError(
        f"The step {step!r} must differ between the rows of a sequence, but rows {rows[0]} and "
        f"{rows[1]} of {sequence} {quoted(labels[first])} both have {value}{others}. Correct the "
        f"column, or give repeats a sequence of their own.",
        step,
        int(frame.index[second]),
    )


def _notices(
    frame: pandas.DataFrame, sequence: str, step: str, number: np.ndarray, place: np.ndarray
) -> list[str]:
    """Return which sequences were sorted, and which have one row."""
    found, sizes = [], np.bincount(number)
    # In the order of the file, the places of a sequence are 0, 1, 2, … if it was sorted.
    by_sequence = np.argsort(number, kind="stable")
    sorted_places = np.arange(len(number)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    moved = np.unique(number[by_sequence][place[by_sequence] != sorted_places])
    if len(moved):
        found.append(
            f"{sequence}: the rows of {len(moved):,} of {counted(len(sizes), 'sequence')} were not in "
            f"the order of {step}; they were sorted."
        )
    if single := int(np.sum(sizes == 1)):
        first = int(frame.index[np.argmax(sizes[number] == 1)]) + 1
        have = "has" if single == 1 else "have"
        found.append(
            f"{sequence}: {counted(single, 'sequence')} {have} one row, first in row {first}, and so "
            f"no history."
        )
    return found
