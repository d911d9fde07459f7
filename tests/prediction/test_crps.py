"""The score from quantiles against closed forms and sums."""

import numpy as np
import pytest
from scipy import special, stats

from vebnn import Prediction, metrics
from vebnn.prediction import Components, in_user_units
from vebnn.prediction.crps import crps
from vebnn.prediction.targets import TARGETS

MEAN, STD = np.array([0.3, -1.0, 1.5]), np.array([0.8, 0.3, 1.1])


def of_kind(name: str) -> Prediction:
    z = Prediction(MEAN, STD**2, 0 * MEAN, lambda: Components.of_draws(MEAN[None], STD[None] ** 2))
    return in_user_units(z, (TARGETS[name],))


def test_gaussian_is_the_closed_form() -> None:
    y = np.array([0.1, -3.0, 1.4])
    expected = [
        metrics.crps(*row) for row in zip(y[:, None], MEAN[:, None], STD[:, None] ** 2, strict=True)
    ]
    np.testing.assert_allclose(crps(of_kind("real"), y), expected, rtol=1e-3)


def test_log_normal_is_the_closed_form() -> None:
    """Baran and Lerch (2015), eq. 9."""
    y = np.array([0.5, 1.0, 9.0])
    z, middle = (np.log(y) - MEAN) / STD, np.exp(MEAN + STD**2 / 2)
    inner = special.ndtr(z - STD) + special.ndtr(STD / np.sqrt(2)) - 1
    expected = y * (2 * special.ndtr(z) - 1) - 2 * middle * inner
    np.testing.assert_allclose(crps(of_kind("positive"), y), expected, rtol=2e-3)


@pytest.mark.parametrize("y", [0.0, 3.0, 12.0])
def test_counts_are_a_sum(y: float) -> None:
    p = of_kind("count")
    k = np.arange(300.0)
    below = np.stack([p.cdf(np.full(3, one)) for one in k])
    expected = np.sum((below - (k[:, None] >= y)) ** 2, axis=0)
    np.testing.assert_allclose(crps(p, np.full(3, y)), expected, rtol=0.01, atol=0.01)


def test_the_true_law_scores_best() -> None:
    y = stats.lognorm.rvs(s=0.8, scale=np.exp(0.3), size=(4_000, 1), random_state=0)
    wide = np.full((4_000, 1), 0.3)

    def score(std: float) -> float:
        z = Prediction(
            wide, np.full_like(wide, std**2), 0 * wide, lambda: Components.of_draws(wide, wide)
        )
        return crps(in_user_units(z, (TARGETS["positive"],)), y).mean()

    assert score(0.8) < min(score(0.5), score(1.2))
