"""Noise and means of repeated measurements."""

import numpy as np
import pytest
from scipy import stats

from vebnn.bench.repeats import Repeats


def test_conditions_without_repeats_are_left_out() -> None:
    y = np.array([1.0, 5.0, 3.0, 7.0, 8.0, 9.0])
    repeats, first = Repeats.of(y, np.array([0, 1, 0, 2, 2, 2]))
    assert first.tolist() == [0, 3]
    assert repeats.num_repeats.tolist() == [2, 3]
    assert repeats.mean.tolist() == [2, 8]
    np.testing.assert_allclose(repeats.scatter, [np.sqrt(2), 1])
    # √((1 · 4 + 2 · 1) / 3) over √((1 · 2 + 2 · 1) / 3)
    assert repeats.noise_ratio(np.array([2.0, 1.0])) == pytest.approx(np.sqrt(6 / 4))


def test_rank_correlation() -> None:
    repeats = Repeats(np.full(4, 3), np.zeros(4), np.array([1.0, 2.0, 3.0, 4.0]))
    assert repeats.noise_rank(np.array([1.0, 5.0, 6.0, 90.0])) == 1
    assert repeats.noise_rank(np.array([4.0, 3.0, 2.0, 1.0])) == -1
    assert repeats.noise_rank(np.full(4, 0.7)) is None
    assert Repeats(*(part[:2] for part in repeats)).noise_rank(np.array([1.0, 2.0])) is None


@pytest.mark.parametrize(
    ("epistemic", "lowest"), [(0.0, 0.945), (0.3, 0.92), (1.0, 0.94), (5.0, 0.945)]
)
def test_right_epistemic_std_covers_95_percent_of_condition_means(
    epistemic: float, lowest: float
) -> None:
    """Three repeats with a std of 1: exact where either part is zero, and nearly so in between."""
    rng = np.random.default_rng(0)
    num = 20_000
    truth = rng.standard_normal(num)
    y = truth[:, None] + rng.standard_normal((num, 3))
    repeats, _ = Repeats.of(y.ravel(), np.repeat(np.arange(num), 3))
    predicted = truth + epistemic * rng.standard_normal(num)
    share = repeats.mean_coverage(predicted, np.full(num, epistemic))
    assert lowest < share < 0.955
    if epistemic:
        # A third of the epistemic std covers less, if the standard error does not hide it.
        assert (repeats.mean_coverage(predicted, np.full(num, epistemic / 3)) < 0.9) == (epistemic >= 1)


def test_mean_coverage_by_hand() -> None:
    repeats = Repeats(np.array([3, 3]), np.array([1.0, 1.0]), np.array([0.3, 0.3]))
    total = 0.2**2 + 0.03
    degrees = total**2 * 2 / 0.03**2
    half = stats.t.ppf(0.975, degrees) * np.sqrt(total)
    mean = np.array([1 + half - 1e-9, 1 - half - 1e-9])
    assert repeats.mean_coverage(mean, np.full(2, 0.2)) == 0.5
    # Equal repeats have no standard error, and the interval is Gaussian.
    equal = Repeats(np.array([3, 3]), np.ones(2), np.zeros(2))
    assert equal.mean_coverage(np.array([1.195, 1.197]), np.full(2, 0.1)) == 0.5
