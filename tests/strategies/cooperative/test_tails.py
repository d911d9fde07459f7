"""Degrees of freedom, scale and weights of Student-t noise, against SciPy and by hand."""

import numpy as np
import pytest
from scipy import stats

from vebnn.core.types import ResidualDataset
from vebnn.strategies.cooperative.tails import HIGHEST_FREEDOM, LOWEST_FREEDOM, Tails


def residuals(errors: np.ndarray, weight: np.ndarray | None = None) -> ResidualDataset:
    errors = errors if errors.ndim > 1 else errors[:, None]
    weight = np.ones_like(errors) if weight is None else weight
    return ResidualDataset(np.zeros((len(errors), 1)), errors**2, weight, np.zeros_like(errors))


def simulated(freedom: float, num_rows: int = 2_000) -> np.ndarray:
    return stats.t.rvs(freedom, scale=0.3, size=num_rows, random_state=4)


def test_the_fit_is_the_maximum_likelihood_of_scipy() -> None:
    errors = simulated(4)
    freedom, _, scale = stats.t.fit(errors, floc=0)
    found = Tails.fit(residuals(errors), np.full((2_000, 1), 0.1))
    assert found.freedom[0] == pytest.approx(freedom, rel=2e-3)
    np.testing.assert_allclose(found.squared_scale, scale**2, rtol=2e-3)
    assert found.factor[0] == pytest.approx(scale**2 / 0.1, rel=2e-3)
    assert (freedom, scale) == pytest.approx((4, 0.3), rel=0.3)


def test_the_scale_may_differ_from_row_to_row() -> None:
    """Residuals in units of their own scale have the same likelihood, but for a constant."""
    errors, scale = simulated(4), np.where(np.arange(2_000) % 2, 0.2, 5.0)
    alike = Tails.fit(residuals(errors), np.ones((2_000, 1)))
    found = Tails.fit(residuals(errors * scale), scale[:, None] ** 2)
    np.testing.assert_allclose(found.freedom, alike.freedom, rtol=1e-4)
    np.testing.assert_allclose(found.factor, alike.factor, rtol=1e-4)


def test_one_update_by_hand() -> None:
    """E step: w = (ν + 1)/(ν + r/s²). M step: s² is the mean of w r."""
    errors, scale = np.array([0.1, -0.5, 3.0]), 0.4
    tails = Tails(np.array([3.0]), np.ones(1), np.full((3, 1), scale**2))
    weights = [4 / (3 + (error / scale) ** 2) for error in errors]
    np.testing.assert_allclose(tails.weights(residuals(errors))[:, 0], weights)
    weighted = tails.weighted(residuals(errors))
    np.testing.assert_allclose(weighted.squared[:, 0], weights * errors**2)
    assert weighted.squared[2, 0] < 4 * scale**2  # whatever the gross error


def test_the_maximum_is_a_fixed_point_of_the_updates() -> None:
    found = Tails.fit(residuals(simulated(3)), np.ones((2_000, 1)))
    weighted = found.weighted(residuals(simulated(3)))
    assert weighted.squared.mean() == pytest.approx(found.squared_scale[0, 0], rel=1e-4)
    again = Tails.fit(residuals(simulated(3)), found.squared_scale)
    assert again.factor[0] == pytest.approx(1, rel=1e-4)


def test_updates_from_a_wrong_start_climb_to_the_maximum() -> None:
    """Step 2 with constant noise, and no factor: plain EM."""
    data = residuals(simulated(3))
    best = Tails.fit(data, np.ones((2_000, 1)))
    scale = np.full((2_000, 1), 9.0)
    for _ in range(60):
        step = Tails.fit(data, scale)._replace(squared_scale=scale)
        scale = np.full((2_000, 1), step.weighted(data).squared.mean())
    np.testing.assert_allclose(scale, best.squared_scale, rtol=1e-3)


def test_every_output_has_its_own_and_missing_targets_do_not_count() -> None:
    errors = np.column_stack([simulated(3), stats.norm.rvs(scale=2, size=2_000, random_state=1)])
    weight = np.ones_like(errors)
    missing = errors.copy()
    missing[:500, 0], weight[:500, 0] = 1e6, 0
    found = Tails.fit(residuals(missing, weight), np.ones_like(errors))
    alone = Tails.fit(residuals(errors[500:, 0]), np.ones((1_500, 1)))
    assert found.freedom[0] == pytest.approx(alone.freedom[0], rel=1e-4)
    assert found.freedom[1] > 20
    assert found.factor[1] == pytest.approx(4, rel=0.1)


def test_a_row_that_counts_twice_is_two_rows() -> None:
    errors = simulated(3, 200)
    twice = Tails.fit(residuals(np.concatenate([errors, errors[:50]])), np.ones((250, 1)))
    weight = np.where(np.arange(200) < 50, 2.0, 1.0)[:, None]
    found = Tails.fit(residuals(errors, weight), np.ones((200, 1)))
    assert found.freedom[0] == pytest.approx(twice.freedom[0], rel=1e-4)


def test_the_degrees_of_freedom_stay_where_the_variance_is_finite() -> None:
    ones = np.ones((2_000, 1))
    cauchy = stats.cauchy.rvs(size=2_000, random_state=2)
    assert Tails.fit(residuals(cauchy), ones).freedom[0] == np.float32(LOWEST_FREEDOM)
    flat = stats.uniform.rvs(-1, 2, size=2_000, random_state=2)
    assert Tails.fit(residuals(flat), ones).freedom[0] == HIGHEST_FREEDOM


@pytest.mark.parametrize("errors", [np.zeros(5), np.array([0.0, 0.0, 0.0, 0.0, 3.0])])
def test_residuals_of_zero_give_finite_noise(errors: np.ndarray) -> None:
    found = Tails.fit(residuals(errors), np.ones((5, 1)))
    assert np.isfinite(found.squared_scale).all()
    assert np.isfinite(found.weights(residuals(errors))).all()
