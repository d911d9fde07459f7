import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vebnn.training import split_rows


def test_a_folds_network_neither_trains_on_its_fold_nor_is_stopped_by_it():
    split = split_rows(np.random.default_rng(0), 23, num_folds=4, validation_fraction=0.2)
    assert sorted(np.bincount(split.fold)) == [5, 6, 6, 6]
    for run, (train, watch) in enumerate(zip(split.train_rows, split.watch_rows, strict=True)):
        assert not set(train) & set(watch)
        assert set(watch) <= set(split.set_aside)
        if run:
            assert (split.fold[np.concatenate([train, watch])] != run - 1).all()
    assert len(split.watch_rows[0]) == 5
    assert sorted(split.final_rows[0]) == list(range(23))


@pytest.mark.parametrize("num_rows", [1, 2, 5])
@pytest.mark.parametrize("fraction", [0.05, 0.95])
def test_every_run_has_rows_to_train_on_and_to_watch(num_rows, fraction):
    split = split_rows(np.random.default_rng(0), num_rows, num_folds=0, validation_fraction=fraction)
    assert all(len(rows) for rows in split.train_rows + split.watch_rows)


def test_rows_held_out_by_the_user_are_watched_by_all():
    outside = np.arange(10, 14)
    split = split_rows(np.random.default_rng(0), 10, 2, 0.2, held_out=outside)
    assert all((rows == outside).all() for rows in split.watch_rows)
    assert sorted(split.train_rows[0]) == list(range(10))


@given(
    st.lists(st.integers(1, 9), min_size=2, max_size=25),
    st.sampled_from([0, 2, 3, 5, 6]),
    st.floats(0.05, 0.95),
    st.integers(0, 9),
)
def test_no_group_is_on_two_sides_of_a_split(sizes, num_folds, fraction, seed):
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    num_folds = min(num_folds, len(sizes))
    split = split_rows(rng, len(group), num_folds, fraction, groups=group)
    for run, (train, watch) in enumerate(zip(split.train_rows, split.watch_rows, strict=True)):
        assert len(train)
        assert len(watch)
        both = np.concatenate([train, watch])
        if run:
            unseen = np.flatnonzero(split.fold == run - 1)
            assert set(group[unseen]).isdisjoint(group[both])
            assert len(unseen)
        # A single group, or no wanted rows: nothing can be set aside, as for too few rows.
        if set(train) != set(watch):
            assert set(group[train]).isdisjoint(group[watch])
            assert set(both) == set(split.final_rows[run])
    rest = np.delete(group, split.set_aside)
    assert set(group[split.set_aside]).isdisjoint(rest)


def test_a_fold_without_the_groups_set_aside_sets_others_aside():
    # Five specimens: the one set aside is a whole fold.
    group = np.repeat(np.arange(5), 20)
    split = split_rows(np.random.default_rng(0), 100, 5, 0.2, groups=group)
    assert len(set(group[split.set_aside])) == 1
    for train, watch in zip(split.train_rows, split.watch_rows, strict=True):
        assert len(set(group[watch])) == 1
        assert set(group[train]).isdisjoint(group[watch])


def test_rows_of_their_own_are_split_as_ever():
    # The numbers of version 0.1.0, before there were groups.
    split = split_rows(np.random.default_rng(3), 8, 3, 0.3, groups=np.arange(8))
    rng = np.random.default_rng(3)
    np.testing.assert_array_equal(split.fold, rng.permutation(8) % 3)
    np.testing.assert_array_equal(split.set_aside, rng.permutation(8)[:2])
    for one, other in zip(split, split_rows(np.random.default_rng(3), 8, 3, 0.3), strict=True):
        for mine, theirs in zip(one, other, strict=True):
            np.testing.assert_array_equal(mine, theirs)
