import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import root_mean_squared_error

from vebnn.metrics import mean_relative_error, rmse, rmse_percent, wasserstein


def test_rmse_by_hand():
    # Errors (3, 4) and (0, 0): √(9/2) and √(16/2) per output.
    target = np.array([[1.0, 10.0], [2.0, 20.0]])
    mean = np.array([[4.0, 14.0], [2.0, 20.0]])
    assert rmse(target, mean) == pytest.approx((np.sqrt(4.5) + np.sqrt(8)) / 2)
    assert rmse(target[:, 0], mean[:, 0]) == pytest.approx(np.sqrt(4.5))


def test_rmse_is_that_of_scikit_learn(rng):
    target, mean = rng.standard_normal((2, 30, 3))
    assert rmse(target, mean) == pytest.approx(root_mean_squared_error(target, mean))


def test_rmse_of_sequences_counts_every_step_of_an_output_alike(rng):
    target, mean = rng.standard_normal((2, 4, 5, 3))
    assert rmse(target, mean) == pytest.approx(rmse(target.reshape(20, 3), mean.reshape(20, 3)))


def test_percentage_of_sequences_by_hand():
    # Two rows, two steps, two outputs: ‖(3, 4)‖ = 5 and ‖(0, 2)‖ = 2, errors ‖(0, 1)‖ and ‖(1, 0)‖.
    truth = np.array([[[3.0, 0.0], [4.0, 2.0]], [[6.0, 0.0], [8.0, 4.0]]])
    mean = truth + np.array([[[0.0, 1.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])
    assert rmse_percent(truth, mean) == pytest.approx(100 * (1 / 5 + 1 / 2 + 0 + 0) / 4)


def test_percentage_does_not_depend_on_units(rng):
    truth, mean = rng.standard_normal((2, 6, 7, 3))
    units = np.array([1.0, 1e-6, 1e3])
    assert rmse_percent(truth * units, mean * units) == pytest.approx(rmse_percent(truth, mean))


@given(
    truth_mean=st.floats(-5, 5),
    truth_std=st.floats(0.01, 5),
    mean=st.floats(-5, 5),
    std=st.floats(0.01, 5),
)
def test_wasserstein_is_the_distance_of_quantile_functions(truth_mean, truth_std, mean, std):
    # W₂² = ∫ (F⁻¹(u) − G⁻¹(u))² du in one dimension.
    u = (np.arange(20_000) + 0.5) / 20_000
    gap = stats.norm.ppf(u, truth_mean, truth_std) - stats.norm.ppf(u, mean, std)
    one = (np.array([value]) for value in (truth_mean, truth_std, mean, std))
    assert wasserstein(*one) == pytest.approx(np.sqrt(np.mean(gap**2)), rel=1e-3, abs=1e-12)


def test_wasserstein_is_taken_per_output_and_averaged():
    # 3-4-5 and 5-12-13 triangles.
    truth_mean, truth_std = np.array([[0.0, 0.0]]), np.array([[4.0, 12.0]])
    mean, std = np.array([[3.0, 5.0]]), np.array([[8.0, 24.0]])
    assert wasserstein(truth_mean, truth_std, mean, std) == pytest.approx((5 + 13) / 2)


def test_relative_error_by_hand():
    assert mean_relative_error(np.array([1.0, 4.0]), np.array([1.5, 3.0])) == pytest.approx(0.375)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: rmse(np.zeros(3), np.zeros((3, 1))),
            r"`mean` must have the shape .* \(3,\)\. Got \(3, 1\)",
        ),
        (
            lambda: rmse(np.zeros(0), np.zeros(0)),
            r"`target` must have at least one row\. Got shape \(0,\)",
        ),
        (lambda: rmse(np.array([np.nan, 1]), np.zeros(2)), "`target` must not hold NaN. Got 1 among 2"),
        (lambda: rmse(np.float64(1), np.float64(1)), "at least one row"),
        (lambda: rmse_percent(np.ones((3, 2)), np.ones((3, 2))), r"shape \(rows, time, outputs\)"),
        (lambda: rmse_percent(np.zeros((3, 4, 2)), np.ones((3, 4, 2))), "Got 6 such sequences"),
        (lambda: wasserstein(*np.zeros((3, 2)), -np.ones(2)), "`std` must not be negative. Got -1"),
        (lambda: wasserstein(*np.zeros((3, 2)), np.ones(3)), "`std` must have the shape"),
        (lambda: mean_relative_error(np.zeros(2), np.ones(2)), "`truth` must be positive everywhere"),
    ],
)
def test_wrong_arrays_get_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
