from functools import partial
from itertools import combinations

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from tests.support.predictions import of_draws
from vebnn.acquisition import (
    bald,
    choose_batch,
    confidence_bound,
    epistemic_variance,
    expected_improvement,
)
from vebnn.prediction import Prediction


def joint_information(prediction: Prediction, rows) -> float:
    """½ log det(I + C/σ²) of some rows, with NumPy's own covariance."""
    rows = list(rows)
    covariance = np.atleast_2d(np.cov(prediction.draws[:, rows].T, bias=True))
    noise = np.diag(prediction.aleatoric_variance[rows])
    return 0.5 * np.linalg.slogdet(np.eye(len(rows)) + np.linalg.solve(noise, covariance))[1]


@pytest.fixture(scope="module")
def small() -> Prediction:
    rng = np.random.default_rng(5)
    mixing = rng.standard_normal((4, 9))
    return of_draws(rng.standard_normal((60, 4)) @ mixing, rng.uniform(0.2, 2.0, 9))


def test_scores_add_up_to_the_joint_information(small: Prediction) -> None:
    rows, scores = choose_batch(small, 5, bald)
    for size in range(1, 6):
        assert scores[:size].sum() == pytest.approx(joint_information(small, rows[:size]), rel=1e-9)


def test_every_choice_is_the_best_next_one(small: Prediction) -> None:
    rows, _ = choose_batch(small, 4, bald)
    for size in range(4):
        others = [row for row in range(9) if row not in rows[:size]]
        gains = [joint_information(small, [*rows[:size], row]) for row in others]
        assert rows[size] == others[int(np.argmax(gains))]


def test_greedy_against_every_batch(small: Prediction) -> None:
    found = choose_batch(small, 3, bald).scores.sum()
    best = max(joint_information(small, rows) for rows in combinations(range(9), 3))
    # Nemhauser et al. 1978: at least 1 − 1/e. Here it is far better, and never above.
    assert 0.95 * best < found <= best + 1e-9


def test_variances_are_those_of_a_gaussian_process() -> None:
    # Draws of a Gaussian process, whitened so that their covariance is exactly the kernel.
    x = np.linspace(0, 5, 12)[:, None]
    kernel, noise = RBF(1.3), np.linspace(0.05, 0.6, 12)
    rng = np.random.default_rng(0)
    white = rng.standard_normal((400, 12))
    white -= white.mean(0)
    white = white @ np.linalg.inv(np.linalg.cholesky(np.cov(white.T, bias=True))).T
    draws = white @ np.linalg.cholesky(kernel(x) + 1e-10 * np.eye(12)).T
    rows, scores = choose_batch(of_draws(draws, noise), 4, epistemic_variance)
    for size in range(4):
        seen = rows[:size]
        process = GaussianProcessRegressor(kernel, alpha=noise[seen], optimizer=None)
        if size:
            process.fit(x[seen], np.zeros(size))
        _, std = process.predict(x, return_std=True)
        assert scores[size] == pytest.approx(std[rows[size]] ** 2, rel=1e-6)
        assert std[rows[size]] == pytest.approx(np.delete(std, seen).max(), rel=1e-6)


def test_a_row_and_its_copy_are_not_both_chosen_unless_there_is_much_noise() -> None:
    rng = np.random.default_rng(1)
    draws = rng.standard_normal((200, 4)) * [3.0, 3.0, 1.0, 0.5]
    draws[:, 1] = draws[:, 0]
    for score in (bald, epistemic_variance):
        assert set(choose_batch(of_draws(draws, 0.01), 3, score).rows) in ({0, 2, 3}, {1, 2, 3})
        # One noisy observation of the first row leaves more to learn there than elsewhere.
        assert set(choose_batch(of_draws(draws, 100.0), 2, score).rows) == {0, 1}


def test_no_row_twice_even_if_nothing_else_is_left() -> None:
    draws = np.random.default_rng(2).standard_normal((50, 5)) * [1, 0, 0, 0, 0]
    rows, scores = choose_batch(of_draws(draws, 0.5), 5, bald)
    assert sorted(rows) == [0, 1, 2, 3, 4]
    assert rows[0] == 0
    np.testing.assert_allclose(scores[1:], 0, atol=1e-12)


def test_without_noise_a_measured_row_is_known() -> None:
    draws = np.random.default_rng(3).standard_normal((50, 3))
    draws[:, 2] = draws[:, 0] + draws[:, 1]
    _, scores = choose_batch(of_draws(draws, 0.0), 3, epistemic_variance)
    assert scores[2] == pytest.approx(0, abs=1e-12)  # two determine the third


def test_several_outputs_are_conditioned_each_on_its_own() -> None:
    rng = np.random.default_rng(4)
    draws = rng.standard_normal((80, 3)) @ rng.standard_normal((2, 3, 7))  # outputs first
    noise = rng.uniform(0.5, 1, (7, 2))
    rows, scores = choose_batch(of_draws(np.moveaxis(draws, 0, -1), noise), 3, bald)
    parts = [of_draws(draws[k], noise[:, k]) for k in range(2)]
    assert scores.sum() == pytest.approx(sum(joint_information(part, rows) for part in parts))


def test_optimistic_batches_keep_the_mean_and_shrink_the_doubt() -> None:
    rng = np.random.default_rng(6)
    draws = np.array([0.0, -0.5, 5.0]) + rng.standard_normal((100, 3))
    draws[:, 1] = draws[:, 0] - 0.5  # a better row whose doubt is the same
    prediction = of_draws(draws, 0.1)
    bound = partial(confidence_bound, num_std=2.0)
    rows, scores = choose_batch(prediction, 2, bound)
    assert list(rows) == [1, 0]
    variance = draws[:, 1].var()
    left = variance - variance**2 / (variance + 0.1)
    assert scores[1] == pytest.approx(-draws[:, 0].mean() + 2 * np.sqrt(left))
    improvement = partial(expected_improvement, best=-0.5)
    assert choose_batch(prediction, 1, improvement).rows == [1]


def test_wrong_arguments(small: Prediction) -> None:
    with pytest.raises(ValueError, match=r"`n` must be at most the size of the pool, 9. Got 10"):
        choose_batch(small, 10, bald)
    with pytest.raises(ValueError, match=r"`n` must be a whole number of at least 1. Got 0"):
        choose_batch(small, 0, bald)
    with pytest.raises(ValueError, match=r"at least 2 draws of the network. Got 1"):
        choose_batch(of_draws(np.zeros((1, 4)), 1.0), 2, bald)
    with pytest.raises(ValueError, match=r"one number per row, \(9,\). Got \(\)"):
        choose_batch(small, 2, lambda prediction: np.float64(1.0))
    with pytest.raises(ValueError, match=r"The score must be a number. Got NaN at row 0"):
        choose_batch(small, 2, lambda prediction: np.full(9, np.nan))
