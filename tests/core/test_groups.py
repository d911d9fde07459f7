"""Rows that belong together, and divisions that keep them together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vebnn.core.groups import balanced_folds, labelled_groups, number_groups, take_groups


def test_identical_inputs_are_one_group():
    inputs = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, -0.0], [2.0, 3.0], [1.0, 1e-300]])
    np.testing.assert_array_equal(number_groups(inputs), [0, 1, 0, 1, 2])
    # A row may have any shape: here, every row is a sequence.
    np.testing.assert_array_equal(number_groups(inputs[:, :, None]), [0, 1, 0, 1, 2])


def test_groups_are_the_union_of_both_relations():
    inputs = np.array([[0.0], [1.0], [1.0], [2.0], [3.0], [3.0]])
    labels = np.array(["a", "a", "b", "c", "c", "d"], object)
    # Rows 0 and 2 share neither inputs nor label, but row 1 links them.
    np.testing.assert_array_equal(number_groups(inputs, labels), [0, 0, 0, 1, 1, 1])
    apart = np.arange(6.0)[:, None]
    np.testing.assert_array_equal(number_groups(apart, labels), [0, 0, 1, 2, 2, 3])


def reachable(inputs: list[int], labels: list[int], start: int) -> set[int]:
    """Return all rows that belong to a row's group, by a search from row to row."""
    found, edge = {start}, {start}
    while edge:
        edge = {
            row
            for row in range(len(inputs))
            for one in edge
            if inputs[row] == inputs[one] or labels[row] == labels[one]
        } - found
        found |= edge
    return found


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=14))
def test_groups_are_connected_components(rows):
    inputs, labels = map(list, zip(*rows, strict=True))
    group = number_groups(np.array(inputs, float)[:, None], np.array(labels))
    for row in range(len(rows)):
        assert set(np.flatnonzero(group == group[row])) == reachable(inputs, labels, row)
    first = list(dict.fromkeys(group.tolist()))
    assert first == list(range(len(first)))


@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 5))
def test_single_rows_are_dealt_in_turn(num_rows, num_folds, seed):
    own = np.arange(num_rows)
    rank = np.random.default_rng(seed).permutation(own)
    np.testing.assert_array_equal(balanced_folds(rank, own, num_folds), rank % num_folds)
    np.testing.assert_array_equal(take_groups(rank, own, num_rows // 2), rank[: num_rows // 2])


@given(st.lists(st.integers(1, 12), min_size=1, max_size=30), st.integers(1, 6), st.integers(0, 5))
def test_folds_are_balanced_by_rows(sizes, num_folds, seed):
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    fold = balanced_folds(rng.permutation(len(sizes)), group, num_folds)
    assert all(len(set(fold[group == one])) == 1 for one in range(len(sizes)))
    rows = np.bincount(fold, minlength=num_folds)
    # The last group of a fold went to the smallest one, so no two folds differ by more than a group.
    assert rows.max() - rows.min() <= max(sizes)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=30), st.floats(0, 1), st.integers(0, 5))
def test_whole_groups_are_taken_close_to_the_wanted_number(sizes, share, seed):
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    wanted = min(round(share * len(group)), len(group) - 1)
    rows = take_groups(rng.permutation(len(sizes)), group, wanted)
    assert len(set(rows)) == len(rows)
    assert set(group[rows]).isdisjoint(np.delete(group, rows))
    if len(sizes) > 1 and wanted:
        assert 0 < len(rows) < len(group)
        assert abs(len(rows) - wanted) <= max(sizes)
    else:
        assert len(rows) == 0


@pytest.mark.parametrize("seed", range(5))
def test_a_group_of_most_rows_is_not_taken_for_a_few(seed):
    group = np.repeat(np.arange(11), [90, *[1] * 10])
    order = np.random.default_rng(seed).permutation(11)
    rows = take_groups(order, group, 5)
    assert len(rows) == 5
    assert 0 not in group[rows]


def test_if_all_groups_are_large_the_smallest_is_taken():
    group = np.repeat([0, 1, 2], [50, 30, 40])
    np.testing.assert_array_equal(group[take_groups(np.array([0, 2, 1]), group, 12)], [1] * 30)


def test_growth_curves_are_not_joined_by_the_days_they_share() -> None:
    days, animals = np.tile(np.arange(4.0), 6)[:, None], np.repeat(np.arange(6), 4)
    group, joined = labelled_groups(days, animals)
    np.testing.assert_array_equal(group, animals)
    assert not joined
    # One condition that two specimens share joins these two.
    days = days + 10 * animals[:, None]
    days[4] = days[0]
    group, joined = labelled_groups(days, animals)
    np.testing.assert_array_equal(group, np.maximum(animals - 1, 0))
    assert joined
