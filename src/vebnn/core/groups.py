"""Groups: rows that belong together, and divisions of rows that keep them together."""

import hashlib
import heapq
from typing import Any

import numpy as np


def number_groups(inputs: np.ndarray, labels: np.ndarray | None = None) -> np.ndarray:
    """Return the number of each row's group, ``(rows,)``, in the order of first appearance.

    Rows with identical inputs belong together, and so do rows with the same label. Where the two
    relations overlap, groups are their connected components.

    Args:
      inputs: ``(rows, ...)`` numbers without NaN.
      labels: ``(rows,)``, of any hashable kind.
    """
    rows = np.ascontiguousarray(inputs)
    if np.issubdtype(rows.dtype, np.floating):
        # Adding zero turns −0 into 0, which is the same number in other bits.
        rows = rows + 0.0
    same_inputs = _number(hashlib.blake2b(row, digest_size=16).digest() for row in rows)
    if labels is None:
        return same_inputs
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # A graph whose nodes are the distinct inputs and the distinct labels; every row is an edge.
    first = same_inputs.max(initial=-1) + 1
    edges = (same_inputs, first + _number(labels))
    size = int(edges[1].max(initial=-1)) + 1
    _, component = connected_components(coo_array((np.ones(len(rows)), edges), (size, size)))
    return _number(component[same_inputs])


def labelled_groups(inputs: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the groups of rows with labels, and whether identical inputs count beside these.

    They do not where they would join most labels with others: animals of one diet that are weighed on
    the same days have identical inputs, and are no repeats of each other.
    """
    joined, alone = number_groups(inputs, labels), _number(labels)
    if 2 * (joined.max(initial=-1) + 1) < alone.max(initial=-1) + 1:
        return alone, False
    return joined, True


def _number(keys: Any) -> np.ndarray:
    """Number equal keys alike, in the order of their first appearance."""
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], int)


def take_groups(order: np.ndarray, group: np.ndarray, wanted: int) -> np.ndarray:
    """Return rows of whole groups, about as many as wanted, and never of all groups.

    Groups are visited in the given order. A group is taken if that brings the number of rows closer to
    the wanted one. If that holds for none, because all are large, the smallest is taken.

    Args:
      order: numbers of the groups to choose from.
      group: ``(rows,)``, the number of each row's group.
      wanted: number of rows; 0 takes none.
    """
    size = np.bincount(group, minlength=len(order))
    taken: list[int] = []
    num_rows = 0
    if single := _are_single(size, group):  # every row brings it closer
        taken = order[: max(0, min(wanted, len(order) - 1))].tolist()
    for one in order[: len(order) if wanted > 0 and not single else 0].tolist():
        if num_rows >= wanted or len(taken) >= len(order) - 1:
            break
        if abs(num_rows + size[one] - wanted) < wanted - num_rows:
            taken.append(one)
            num_rows += size[one]
    if not taken and wanted > 0 and len(order) > 1:
        taken = [order[np.argmin(size[order])]]
    place = np.full(len(size), -1)
    place[taken] = np.arange(len(taken))
    rows = np.flatnonzero(place[group] >= 0)
    return rows[np.argsort(place[group[rows]], kind="stable")]


def _are_single(size: np.ndarray, group: np.ndarray) -> bool:
    """Return whether every row is a group of its own; a loop over millions of them would take long."""
    return len(size) == len(group) and bool((size == 1).all())


def balanced_folds(rank: np.ndarray, group: np.ndarray, num_folds: int) -> np.ndarray:
    """Return the fold of each row: every group goes to the fold with the fewest rows so far.

    Large groups come first, and groups of one size in the order of their ``rank``.
    """
    if num_folds == 1:
        return np.zeros(len(group), int)
    size = np.bincount(group, minlength=len(rank))
    if _are_single(size, group):  # rows are dealt in turn
        return (np.argsort(np.argsort(rank)) % num_folds)[group]
    fold = np.zeros(len(rank), int)
    folds = [(0, number) for number in range(num_folds)]  # (rows so far, number): a heap
    for one in np.lexsort((rank, -size)).tolist():
        num_rows, fold[one] = folds[0]
        heapq.heapreplace(folds, (num_rows + int(size[one]), int(fold[one])))
    return fold[group]
