import numpy as np
import pytest

from vebnn.tabular.sequences.steps import Steps


@pytest.fixture
def steps() -> Steps:
    """Sequence 0 is rows 3, 0, 4; sequence 1 is rows 1, 2; sequence 2 is row 5."""
    values = np.arange(12.0).reshape(6, 2)
    sequence, place = np.array([0, 1, 1, 0, 0, 2]), np.array([1, 0, 1, 0, 2, 0])
    return Steps(values, sequence, place, np.arange(6))


def test_sequences_are_in_the_order_of_their_steps(steps: Steps) -> None:
    padded = steps.padded()
    assert padded.shape == (3, 3, 2)
    np.testing.assert_array_equal(padded[0], [[6, 7], [0, 1], [8, 9]])
    np.testing.assert_array_equal(padded[1], [[2, 3], [4, 5], [np.nan, np.nan]])
    assert steps.padded(multiple=4).shape == (3, 4, 2)


def test_values_go_to_their_places_and_back(steps: Steps) -> None:
    rows = np.arange(6) * 10.0
    spread = steps.spread(rows, -1.0)
    np.testing.assert_array_equal(spread, [[30, 0, 40], [10, 20, -1], [50, -1, -1]])
    np.testing.assert_array_equal(spread[steps.places], rows)


def test_rows_that_are_not_chosen_remain_history(steps: Steps) -> None:
    some = steps[[4, 2]]
    assert len(some) == 2
    np.testing.assert_array_equal(some.padded(), steps.padded()[:2])
    np.testing.assert_array_equal(some.spread(np.array([7.0, 8.0]), 0), [[0, 0, 7], [0, 8, 0]])
    np.testing.assert_array_equal(np.asarray(some), steps.values[[4, 2]])
    np.testing.assert_array_equal(some[[True, False]].chosen, [4])


def test_digests_are_of_the_history_or_of_the_whole() -> None:
    # The same two steps; then they differ. In another order in the table, and −0 for 0.
    one = Steps(np.array([[0.0], [1], [2]]), np.zeros(3, int), np.arange(3), np.arange(3))
    other = Steps(np.array([[3.0], [-0.0], [1]]), np.zeros(3, int), np.array([2, 0, 1]), np.arange(3))
    first, second = one.histories(), other.histories()
    assert first[:2] == second[1:]
    assert len({*first, *second}) == 4
    assert len(set(one.wholes())) == 1
    assert one.wholes()[0] != other.wholes()[0]
