import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from vebnn.metrics import LEVELS, coverage, interval_length, interval_score, reliability

SLICES = stats.norm.ppf((np.arange(4_000) + 0.5) / 4_000)  # equally likely slices of N(0, 1)


def test_coverage_and_length_by_hand():
    lower, upper = np.array([0.0, 0.0, 0.0, -1.0]), np.array([1.0, 2.0, 3.0, 1.0])
    assert coverage(np.array([1.0, 2.1, -0.1, 0.0]), lower, upper) == 0.5  # an end is inside
    assert interval_length(lower, upper) == 2


def test_infinite_intervals_cover_everything():
    everything = np.full(3, -np.inf), np.full(3, np.inf)
    assert coverage(np.array([-1e300, 0.0, 1e300]), *everything) == 1
    assert interval_length(*everything) == np.inf
    assert interval_score(np.zeros(3), *everything, 0.9) == np.inf


def test_interval_score_by_hand():
    # Lengths 2; targets 0.5 below and 1 above at level 0.9, where a miss costs 20 times its size.
    target, lower = np.array([-0.5, 3.0, 1.0, 2.0]), np.zeros(4)
    assert interval_score(target, lower, lower + 2, 0.9) == pytest.approx(2 + 20 * 1.5 / 4)


@given(center=st.floats(-2, 2), half=st.floats(0.05, 5), level=st.sampled_from([0.5, 0.8, 0.95]))
def test_no_interval_beats_the_true_quantiles_on_average(center, half, level):
    def score(low: float, high: float) -> float:
        return interval_score(SLICES, np.full_like(SLICES, low), np.full_like(SLICES, high), level)

    assert score(*stats.norm.interval(level)) <= score(center - half, center + half) + 1e-3


def test_reliability_by_hand():
    # Central intervals of level 0.5 and 0.9 reach 0.674 and 1.645 standard deviations.
    found = reliability(
        np.array([1.0, 2.2, 7.0, 3.0]),
        np.array([1.0, 1.0, 1.0, 0.0]),
        np.full(4, 4.0),
        levels=(0.5, 0.9),
    )
    np.testing.assert_array_equal(found.levels, [0.5, 0.9])
    np.testing.assert_array_equal(found.coverage, [0.5, 0.75])
    assert found.expected_calibration_error == pytest.approx((0 + 0.15) / 2)


def test_an_end_of_a_central_interval_is_inside():
    found = reliability(special.ndtri([0.25, 0.75]), np.zeros(2), np.ones(2), levels=(0.5,))
    np.testing.assert_array_equal(found.coverage, [1])


def test_reliability_is_the_coverage_of_scipys_intervals(rng):
    target, mean = rng.standard_normal((2, 200, 2))
    variance = rng.uniform(0.2, 3, (200, 2))
    found = reliability(target, mean, variance)
    assert tuple(found.levels) == LEVELS
    for level, held in zip(found.levels, found.coverage, strict=True):
        ends = stats.norm.interval(level, mean, np.sqrt(variance))
        assert held == coverage(target, *ends)


def test_a_calibrated_forecast_lies_on_the_diagonal():
    found = reliability(SLICES, 0 * SLICES, np.ones_like(SLICES))
    np.testing.assert_allclose(found.coverage, LEVELS, atol=1e-3)
    assert found.expected_calibration_error < 1e-3


@given(st.floats(1.1, 100))
def test_more_variance_covers_more(factor):
    small, large = (reliability(SLICES, 0 * SLICES, np.full_like(SLICES, v)) for v in (1.0, factor))
    assert (large.coverage >= small.coverage).all()
    assert large.expected_calibration_error > small.expected_calibration_error


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: coverage(np.zeros(3), np.zeros((3, 1)), np.ones(3)), "`lower` must have the shape"),
        (lambda: coverage(np.zeros(3), np.ones(3), np.zeros(3)), "Got 3 of 3 crossed"),
        (lambda: coverage(np.array([np.nan]), np.zeros(1), np.ones(1)), "must not hold NaN"),
        (lambda: interval_length(np.ones(2), np.zeros(2)), "must not be above the `upper` one"),
        (lambda: interval_length(np.ones(2), np.ones(3)), "`upper` must have the shape"),
        (
            lambda: interval_score(*np.zeros((3, 2)), 95),
            r"`level` must be a number in \(0, 1\)\. Got 95",
        ),
        (lambda: reliability(*np.zeros((2, 2)), np.ones(2), (0.5, 1.0)), r"`levels` .* Got 1\.0"),
        (lambda: reliability(*np.zeros((2, 2)), np.ones(2), ()), "at least one number. Got none"),
        (lambda: reliability(*np.zeros((3, 2))), "`variance` must be positive"),
    ],
)
def test_wrong_arguments_get_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
