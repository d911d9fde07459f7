"""The division of a table into rows to train on, to calibrate on and to score, in whole groups."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas

from vebnn.calibration.conformal import rows_needed
from vebnn.core.groups import labelled_groups, number_groups, take_groups
from vebnn.tabular.encoded import EncodedTable
from vebnn.tabular.errors import TableError, counted
from vebnn.tabular.scores import DEFAULT_LEVEL
from vebnn.tabular.values import MISSING, to_labels

FEWEST_CALIBRATION_ROWS = 10
CALIBRATION_SHARE = 0.2  # of the rows that are not held out, as in the paper


@dataclass(frozen=True)
class TableGroups:
    """Rows that belong together: identical inputs, and one label in the group column."""

    of_rows: np.ndarray  # (rows,), the number of each row's group
    column: str | None  # the group column
    num_repeats: int  # rows with the inputs of another row
    kept: bool = True  # whether such rows stay together
    noun: str = "group"  # what messages call a group
    unit: str = "row"  # what messages call one of its members

    @property
    def count(self) -> int:
        """Number of groups."""
        return int(self.of_rows.max()) + 1

    def notices(self, *, as_input: bool) -> list[str]:
        """Return what is kept together."""
        notices = []
        if self.column is not None:
            role = "is also an input" if as_input else "is no input"
            notices.append(f"{self.column}: names {self.count:,} groups that stay together; {role}.")
        if self.num_repeats:
            rest = "there are too few different inputs to hold some out, so the score is of repeats"
            if self.kept:
                rest = "identical inputs stay together"
            elif self.column is not None:
                rest = f"they join most groups of {self.column}, so only the groups stay together"
            notices.append(
                f"{counted(self.num_repeats, self.unit)} have the inputs of another {self.unit}; "
                f"{rest}."
            )
        return notices


class Division(NamedTuple):
    """Positions of rows, sorted."""

    held_out: np.ndarray  # for the score
    calibrated: np.ndarray  # for the calibration alone
    trained: np.ndarray


def find_groups(table: EncodedTable, column: str | None, *, fewest: int) -> TableGroups:
    """Find the rows that belong together; every row is a group if fewer than ``fewest`` inputs differ.

    With a column, its groups alone count where identical inputs would join most of them. Inputs are
    compared as the network would see them: without identifiers, targets and dropped columns.
    """
    labels = None if column is None else to_labels(table.frame[column])
    return group_inputs(np.asarray(table.matrix), labels, column, fewest=fewest)


def group_inputs(
    inputs: np.ndarray, labels: np.ndarray | None, column: str | None, *, fewest: int
) -> TableGroups:
    """Find the examples that belong together, by their inputs and by their labels in a column."""
    same = number_groups(inputs)
    num_repeats = int(np.sum(np.bincount(same)[same] > 1))
    if labels is not None:
        found, kept = labelled_groups(inputs, labels)
        return TableGroups(found, column, num_repeats, kept)
    kept = bool(same.max() + 1 >= fewest)
    return TableGroups(same if kept else np.arange(len(same)), None, num_repeats, kept)


def check_group_column(frame: pandas.DataFrame, column: str) -> None:
    """Refuse a column without a label in some row."""
    if (missing := to_labels(frame[column]) == MISSING).any():
        row = int(frame.index[missing][0])
        raise TableError(
            f"The group {column!r} is missing in {counted(int(missing.sum()), 'row')}, first in row "
            f"{row + 1}. Fill it in; a row that belongs to no group needs a label of its own.",
            column,
            row,
        )


def fewest_groups(hold_out: float, calibrate: str | None) -> int:
    """Return the least number of groups: two to train on, and one for every other use."""
    return 2 + (hold_out > 0) + (calibrate is not None)


def divide(groups: TableGroups, hold_out: float, calibrate: str | None, seed: int) -> Division:
    """Divide rows at random, in whole groups; the shares are met as closely as groups allow."""
    fewest = fewest_groups(hold_out, calibrate)
    if groups.column is not None and groups.count < fewest:
        raise TableError(
            f"The group {groups.column!r} must name at least {fewest} groups, because training "
            f"needs two, and held-out and calibration rows one each. Got {groups.count}; choose "
            f"another column, or leave it out.",
            groups.column,
        )
    order = np.random.default_rng(seed).permutation(groups.count)
    return _divide(order, groups.of_rows, take_groups, hold_out, calibrate, groups.unit)


def divide_by_time(column: str, times: np.ndarray, hold_out: float, calibrate: str | None) -> Division:
    """Divide rows by time: the latest are for the score, those before for the calibration.

    Rows of equal times stay together; the shares are met as closely as they allow.
    """
    moments, of_rows = np.unique(times, return_inverse=True)
    fewest = fewest_groups(hold_out, calibrate)
    if len(moments) < fewest:
        raise TableError(
            f"The time {column!r} must have at least {fewest} different values to divide the rows. Got "
            f"{len(moments)}; choose another column, or leave it out.",
            column,
        )
    return _divide(np.arange(len(moments))[::-1], of_rows, _take_first, hold_out, calibrate)


def _take_first(order: np.ndarray, group: np.ndarray, wanted: int) -> np.ndarray:
    """Return the rows of the first groups in an order, as close to a number as these allow."""
    if wanted == 0:
        return np.zeros(0, int)
    total = np.cumsum(np.bincount(group)[order])[:-1]  # never all groups
    number = int(np.argmin(np.abs(total - wanted))) + 1
    return np.flatnonzero(np.isin(group, order[:number]))


def _divide(
    order: np.ndarray,
    every: np.ndarray,
    take: Callable[[np.ndarray, np.ndarray, int], np.ndarray],
    hold_out: float,
    calibrate: str | None,
    unit: str = "row",
) -> Division:
    """Divide rows in whole groups, which are visited in an order.

    Args:
      order: numbers of the groups.
      every: ``(rows,)``, the number of each row's group.
      take: returns rows of groups, from an order, the groups of all rows, and a number of rows.
      hold_out: share of the rows for the score.
      calibrate: the method of calibration.
      unit: what messages call a row.
    """
    num_rows = len(every)
    held_out = take(order, every, int(np.ceil(hold_out * num_rows)))
    # The scored rows are the same with and without calibration.
    wanted = _num_calibrated(calibrate, num_rows - len(held_out), unit)
    rest = order[~np.isin(order, every[held_out])]
    calibrated = take(rest, every, wanted)
    if wanted and len(calibrated) < (fewest := fewest_calibrated(calibrate)):
        raise TableError(
            f"The calibration {calibrate!r} needs at least {fewest} {unit}s of its own. Got "
            f"{counted(len(calibrated), unit)}, because whole groups stay together; leave it out, "
            f"or add {unit}s."
        )
    trained = np.setdiff1d(np.arange(num_rows), np.concatenate([held_out, calibrated]))
    return Division(np.sort(held_out), np.sort(calibrated), trained)


def fewest_calibrated(calibrate: str | None) -> int:
    """Return the least number of rows for a method of calibration."""
    return rows_needed(DEFAULT_LEVEL) if calibrate == "conformal" else FEWEST_CALIBRATION_ROWS


def _num_calibrated(calibrate: str | None, num_rows: int, unit: str) -> int:
    if calibrate is None:
        return 0
    number, fewest = int(np.ceil(CALIBRATION_SHARE * num_rows)), fewest_calibrated(calibrate)
    enough = round((fewest - 1) / CALIBRATION_SHARE) + 1
    if num_rows < enough:
        raise TableError(
            f"The calibration {calibrate!r} needs at least {fewest} {unit}s of its own. Got "
            f"{counted(number, unit)}, a fifth of the {num_rows} that are not held out; leave it out, "
            f"or add {unit}s until these are {enough}."
        )
    return number
