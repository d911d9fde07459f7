"""Problems with known mean and noise."""

import numpy as np
import pytest

from vebnn.datasets.truth import PROBLEMS, SHELL, load_truth
from vebnn.datasets.truth_functions import process_draw, teacher


@pytest.mark.parametrize("name", PROBLEMS)
def test_data_are_those_of_the_truth(name: str) -> None:
    problem = PROBLEMS[name]
    data = load_truth(name, 4_000, 500, random_state=3)
    assert data.X.shape == (problem.num_rows, problem.num_inputs)
    assert data.y.shape == (problem.num_rows,)
    for X in (data.X, data.X_test):
        assert np.abs(X).max() <= 1
    distances = np.abs(data.X_outside).max(axis=1)
    assert data.X_outside.shape == (500, problem.num_inputs)
    assert ((distances > 1) & (distances <= SHELL)).all()
    assert np.isfinite(data.truth.mean(data.X_outside)).all()
    # Residuals over the noise std are standard normal.
    errors = (data.y_test - data.truth.mean(data.X_test)) / data.truth.noise_std(data.X_test)
    assert abs(errors.mean()) < 4 / np.sqrt(4_000)
    assert errors.var() == pytest.approx(1, abs=4 * np.sqrt(2 / 4_000))


def test_a_seed_gives_the_same_data_and_test_rows_do_not_change_them() -> None:
    first, again = load_truth("teacher", random_state=1), load_truth("teacher", 10, 5, random_state=1)
    np.testing.assert_array_equal(first.y, again.y)
    other = load_truth("teacher", random_state=2)
    assert not np.allclose(first.truth.mean(first.X), other.truth.mean(first.X))
    fixed = load_truth("sparse", random_state=1), load_truth("sparse", random_state=2)
    assert np.allclose(fixed[0].truth.mean(fixed[0].X), fixed[1].truth.mean(fixed[0].X))
    assert not np.allclose(fixed[0].y, fixed[1].y)


@pytest.mark.parametrize(
    ("name", "useless"),
    [("additive", slice(5, 10)), ("sparse", [i for i in range(30) if i not in (3, 11, 20)])],
)
def test_useless_inputs_change_nothing(name: str, useless: slice | list[int]) -> None:
    data = load_truth(name)
    changed = data.X.copy()
    changed[:, useless] = -changed[:, useless]
    np.testing.assert_array_equal(data.truth.mean(data.X), data.truth.mean(changed))


@pytest.mark.parametrize("smooth", [True, False])
def test_draws_have_the_covariance_of_their_kernel(smooth: bool) -> None:
    # Over draws, the covariance of f(0) and f(x) is the kernel at the scaled distance of x from 0.
    scales = np.array([0.5, 2.0])
    X = np.array([[0.0, 0.0], [0.4, 0.0], [0.0, 1.0], [0.5, -0.8]])
    rng = np.random.default_rng(0)
    draws = np.array([process_draw(rng, scales, smooth)(X) for _ in range(1_500)])
    r = np.sqrt(np.sum((X / scales) ** 2, axis=1))
    a = np.sqrt(5) * r
    kernel = np.exp(-(r**2) / 2) if smooth else (1 + a + a**2 / 3) * np.exp(-a)
    np.testing.assert_allclose(draws.T @ draws[:, 0] / len(draws), kernel, atol=0.12)


def test_a_teacher_has_variance_one() -> None:
    rng = np.random.default_rng(0)
    values = teacher(rng, 4)(rng.uniform(-1, 1, (5_000, 4)))
    assert values.mean() == pytest.approx(0, abs=0.1)
    assert values.std() == pytest.approx(1, abs=0.1)
