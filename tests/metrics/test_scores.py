import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from vebnn.metrics import (
    crps,
    epistemic_log_likelihood,
    log_likelihood,
    mixture_crps,
    mixture_log_likelihood,
)

NUMBER = st.floats(-10, 10)
VARIANCE = st.floats(1e-3, 100)

# Observations that stand for the distribution N(1, 2²): equally likely slices.
SLICES = stats.norm.ppf((np.arange(4_000) + 0.5) / 4_000, 1, 2)


def one(value: float) -> np.ndarray:
    return np.array([value])


def crps_by_integration(target: float, cdf) -> float:
    def square(z: float) -> float:
        return (cdf(z) - (target <= z)) ** 2

    low, high = min(target, -10) - 60, max(target, 10) + 60
    return sum(
        integrate.quad(square, *ends, limit=400, epsabs=1e-10)[0]
        for ends in ((low, target), (target, high))
    )


def test_log_likelihood_by_hand():
    # log N(0 | 0, 1) = −½ log 2π; log N(2 | 0, 4) = −½ log 2π − log 2 − ½.
    found = log_likelihood(np.array([0.0, 2.0]), np.zeros(2), np.array([1.0, 4.0]))
    assert found == pytest.approx(-0.5 * np.log(2 * np.pi) - (np.log(2) + 0.5) / 2)


def test_epistemic_log_likelihood_sees_the_epistemic_variance_alone():
    truth, mean, variance = np.array([[1.0, 2.0]]), np.array([[1.5, 2.0]]), np.array([[0.25, 1.0]])
    expected = -0.5 * np.log(2 * np.pi) - 0.5 * (np.log(0.25) + 1 + 0 + 0) / 2
    assert epistemic_log_likelihood(truth, mean, variance) == pytest.approx(expected)


def test_mixture_log_likelihood_by_hand():
    # Half N(0, 1), half N(3, 4), at 0.
    density = 0.5 / np.sqrt(2 * np.pi) * (1 + 0.5 * np.exp(-9 / 8))
    found = mixture_log_likelihood(one(0.0), np.array([[0.0], [3.0]]), np.array([[1.0], [4.0]]))
    assert found == pytest.approx(np.log(density))


def test_mixture_log_likelihood_survives_far_targets():
    found = mixture_log_likelihood(one(100.0), np.array([[0.0], [1.0]]), one(1.0))
    assert found == pytest.approx(-0.5 * np.log(2 * np.pi) - 0.5 * 99**2 - np.log(2), rel=1e-12)


@given(NUMBER, NUMBER, VARIANCE)
def test_a_mixture_of_equals_is_a_gaussian(target, mean, variance):
    means = np.full((3, 1), mean)
    gaussian = one(target), one(mean), one(variance)
    same = one(target), means, one(variance)
    assert mixture_log_likelihood(*same) == pytest.approx(log_likelihood(*gaussian))
    assert mixture_crps(*same) == pytest.approx(crps(*gaussian), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("target", "mean", "variance"), [(0.3, 0.0, 1.0), (-4.0, 2.0, 0.25), (9.0, 1.0, 30.0)]
)
def test_crps_integrates_its_definition(target, mean, variance):
    expected = crps_by_integration(target, lambda z: special.ndtr((z - mean) / np.sqrt(variance)))
    assert crps(one(target), one(mean), one(variance)) == pytest.approx(expected, rel=1e-6)


def test_crps_by_hand():
    # At the mean, z = 0: std (2 φ(0) − 1/√π).
    expected = 2 * (np.sqrt(2 / np.pi) - 1 / np.sqrt(np.pi))
    assert crps(one(5.0), one(5.0), one(4.0)) == pytest.approx(expected)


@given(NUMBER, st.lists(st.tuples(NUMBER, st.floats(0.05, 9)), min_size=1, max_size=5))
def test_mixture_crps_integrates_its_definition(target, components):
    means, variances = np.array(components).T[:, :, None]
    expected = crps_by_integration(
        target, lambda z: np.mean(special.ndtr((z - means) / np.sqrt(variances)))
    )
    assert mixture_crps(one(target), means, variances) == pytest.approx(expected, rel=1e-5, abs=1e-7)


def test_mixture_crps_is_the_published_example():
    # scoringrules.crps_mixnorm(0.0, [0.1, -0.3, 1.0], [0.4, 2.1, 0.7], [0.1, 0.2, 0.7])
    means = np.repeat([0.1, -0.3, 1.0], [1, 2, 7])[:, None]
    variances = np.repeat([0.4, 2.1, 0.7], [1, 2, 7])[:, None] ** 2
    assert mixture_crps(one(0.0), means, variances) == pytest.approx(0.46806866729387275, rel=1e-12)


@given(NUMBER, st.lists(st.tuples(NUMBER, VARIANCE), min_size=1, max_size=4), st.floats(0.1, 10))
def test_crps_is_not_negative_and_has_the_units_of_the_target(target, components, factor):
    means, variances = np.array(components).T[:, :, None]
    score = mixture_crps(one(target), means, variances)
    assert score >= 0
    rescaled = mixture_crps(one(target * factor), means * factor, variances * factor**2)
    assert rescaled == pytest.approx(factor * score, rel=1e-6, abs=1e-9)


@given(mean=st.floats(-3, 5), std=st.floats(0.3, 10))
def test_no_forecast_beats_the_truth_on_average(mean, std):
    def constant(value: float) -> np.ndarray:
        return np.full_like(SLICES, value)

    truth, other = (constant(1.0), constant(4.0)), (constant(mean), constant(std**2))
    assert crps(SLICES, *truth) <= crps(SLICES, *other) + 1e-4
    # Slices have no far tail, hence a little less spread than what they stand for.
    assert log_likelihood(SLICES, *truth) >= log_likelihood(SLICES, *other) - 1e-3


def test_several_rows_and_outputs_are_averaged(rng):
    target, means = rng.standard_normal((5, 2)), rng.standard_normal((4, 5, 2))
    variances = rng.uniform(0.1, 2, (4, 5, 2))
    for score in (mixture_crps, mixture_log_likelihood):
        entries = [
            score(one(target[r, o]), means[:, r, o, None], variances[:, r, o, None])
            for r in range(5)
            for o in range(2)
        ]
        assert score(target, means, variances) == pytest.approx(np.mean(entries))


def test_variances_may_be_shared_by_draws_or_rows(rng):
    target, means = rng.standard_normal(6), rng.standard_normal((3, 6))
    for shape in ((6,), (1, 6), (3, 1), (1,)):
        variances = rng.uniform(0.1, 2, shape)
        whole = np.broadcast_to(variances, means.shape)
        for score in (mixture_crps, mixture_log_likelihood):
            assert score(target, means, variances) == score(target, means, whole)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: log_likelihood(*np.zeros((3, 2))), "`variance` must be positive everywhere. Got 0 "),
        (lambda: log_likelihood(*np.zeros((2, 2)), np.ones((2, 1))), "`variance` must have the shape"),
        (
            lambda: crps(*np.zeros((2, 2)), -np.ones(2)),
            "`variance` must be positive everywhere. Got -1",
        ),
        (lambda: crps(np.zeros((2, 1)), np.zeros(2), np.ones(2)), "`mean` must have the shape"),
        (lambda: epistemic_log_likelihood(*np.zeros((3, 2))), "`epistemic_variance` must be positive"),
        (
            lambda: mixture_crps(np.zeros(2), np.zeros((3, 4)), np.ones(2)),
            r"\(draws, 2\)\. Got \(3, 4\)",
        ),
        (lambda: mixture_crps(np.zeros(2), np.zeros(2), np.ones(2)), r"\(draws, 2\)\. Got \(2,\)"),
        (
            lambda: mixture_log_likelihood(np.zeros((2, 1)), np.zeros((3, 2, 1)), np.ones(2)),
            r"`variances` must broadcast to the shape of the `means`, \(3, 2, 1\)\. Got \(2,\)",
        ),
        (
            lambda: mixture_log_likelihood(np.zeros(2), np.zeros((3, 2)), np.zeros(2)),
            "must be positive",
        ),
    ],
)
def test_wrong_arrays_get_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
