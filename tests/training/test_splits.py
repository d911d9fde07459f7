import numpy as np
import pytest

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
