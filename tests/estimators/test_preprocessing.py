"""Units, weights and padding of the user's arrays."""

import numpy as np
import pytest

from vebnn import VeBNNRegressor
from vebnn.estimators.preprocessing import (
    Standardiser,
    entry_weight,
    input_weight,
    pad_sequences,
    require_moderate,
    with_changes,
)


def test_standardised_values_have_mean_zero_and_std_one(rng):
    values = rng.normal([5.0, -2.0], [3.0, 0.1], (200, 2))
    units = Standardiser.learn(values)
    standardised = units.standardise(values)
    np.testing.assert_allclose(standardised.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(standardised.std(0), 1)
    np.testing.assert_allclose(units.restore(standardised), values)


def test_a_constant_column_keeps_scale_one():
    # The mean of many times 0.1 is not quite 0.1, and the difference must not become a scale.
    values = np.column_stack([np.full(100_000, 0.1), np.linspace(0, 1, 100_000)])
    assert Standardiser.learn(values).scale[0] == 1


def test_weights_of_inputs_by_hand():
    target = np.array([[[1.0], [np.nan], [2.0], [np.nan]], [[1.0], [np.nan], [np.nan], [np.nan]]])
    weight = entry_weight([2.0, 3.0], target)
    np.testing.assert_array_equal(weight[..., 0], [[2, 0, 2, 0], [3, 0, 0, 0]])
    x = np.array([[[1.0], [5.0], [3.0], [np.nan]], [[2.0], [np.nan], [np.nan], [np.nan]]])
    # The second step of the first sequence is history of the third.
    by_step = input_weight(weight, x)
    np.testing.assert_array_equal(by_step, [[2, 2, 2, 0], [3, 0, 0, 0]])
    units = Standardiser.learn(x, by_step)
    repeated = [1, 1, 5, 5, 3, 3, 2, 2, 2]
    np.testing.assert_allclose(units.centre, np.mean(repeated))
    np.testing.assert_allclose(units.scale, np.std(repeated))


def test_sequences_are_padded_at_their_end():
    padded = pad_sequences([[1.0, 2.0], [3.0]])
    np.testing.assert_array_equal(padded[..., 0], [[1, 2], [3, np.nan]])
    for wrong in ([], [np.zeros((2, 3, 4))]):
        with pytest.raises(ValueError, match=r"must be arrays of shape \(time, features\), at least"):
            pad_sequences(wrong)
    with pytest.raises(ValueError, match=r"the same features\. Got \[2, 3\] of them"):
        pad_sequences([np.zeros((4, 2)), np.zeros((4, 3))])


def test_changes_stand_beside_their_features():
    X = pad_sequences([[1.0, 4.0, 2.0], [3.0]])
    found = with_changes(X, start=1.0)
    np.testing.assert_array_equal(found[..., :1], X)
    np.testing.assert_array_equal(found[..., 1], [[0, 3, -2], [2, np.nan, np.nan]])
    two = with_changes(np.ones((1, 2, 2)), start=[0.0, 3.0])
    np.testing.assert_array_equal(two[0], [[1, 1, 1, -2], [1, 1, 0, 0]])
    with pytest.raises(ValueError, match=r"The `X` must be sequences .* Got shape \(3,\)"):
        with_changes([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"The `start` must be one number, or one for each of the 1"):
        with_changes(X, start=[0.0, 0.0])


@pytest.mark.parametrize(("name", "factor"), [("y", 1e-201), ("y", 1e300), ("X", 1e-201), ("X", 1e300)])
def test_numbers_whose_squares_vanish_or_overflow_are_refused(sine, name: str, factor: float) -> None:
    X, y = sine
    rows = {"X": X * factor, "y": y} if name == "X" else {"X": X, "y": y * factor}
    with pytest.raises(ValueError, match=rf"`{name}` must hold numbers up to 1e\+140 .* other units"):
        VeBNNRegressor(random_state=0).fit(**rows)


def test_constants_and_moderate_numbers_are_no_reason_to_refuse() -> None:
    require_moderate("X", np.array([[0.0, 1e-300, 1e139, np.nan], [1e-139, 1e-300, 0.0, np.nan]]))


@pytest.mark.parametrize("factor", [1e-300, 1e-31, 1e31])
def test_weights_that_single_precision_cannot_hold_are_refused(sine, factor: float) -> None:
    X, y = sine
    with pytest.raises(ValueError, match=r"`sample_weight` must be zero, or between 1e-30 and 1e\+30"):
        VeBNNRegressor(random_state=0).fit(X, y, sample_weight=np.full(len(y), factor))


def test_single_precision_is_checked_in_double():
    require_moderate("y", np.array([[1.0], [2.0]], np.float32))
    with pytest.raises(ValueError, match="`y` must hold numbers up to"):
        require_moderate("y", np.array([[1e150], [2.0]]))
