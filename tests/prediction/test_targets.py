"""Kinds of targets: their moments, densities and probabilities against numerical integration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from vebnn import Prediction
from vebnn.prediction import Components, in_user_units
from vebnn.prediction.targets import TARGETS, Moments

SMOOTH, WHOLE = ("positive", "fraction"), "count"
kinds = st.sampled_from(["positive", "fraction", "count"])
means = st.floats(-2, 3)
variances = st.floats(0.01, 1.5)


def of_transformed(mean, aleatoric, epistemic=0.0) -> Prediction:
    """Return a prediction of z with two draws, one std below and one above the mean."""
    mean = np.atleast_1d(np.asarray(mean, float))
    noise, spread = (np.broadcast_to(part, mean.shape).astype(float) for part in (aleatoric, epistemic))
    draws = np.stack([mean - np.sqrt(spread), mean + np.sqrt(spread)])
    return Prediction(mean, noise, spread, lambda: Components.of_draws(draws, noise[None]))


def predicted(name: str, mean, aleatoric, epistemic=0.0) -> Prediction:
    return in_user_units(of_transformed(mean, aleatoric, epistemic), (TARGETS[name],))


def by_brute_force(name: str, mean: float, aleatoric: float, epistemic: float) -> Moments:
    """Integrate E[y | μ] and Var(y | μ) on fine grids of μ and of the noise."""
    grid = np.linspace(-9, 9, 1201)
    weight = stats.norm.pdf(grid) * (grid[1] - grid[0])
    given = mean + np.sqrt(epistemic) * grid[:, None]
    noise = np.sqrt(aleatoric) * grid
    if name == WHOLE:
        # The inverse jumps: sum over whole numbers in place of an integral over the noise.
        k = np.arange(1, 700)
        tails = stats.norm.sf((np.sqrt(k - 0.125) - given) / np.sqrt(aleatoric))
        centre, square = tails.sum(1), tails @ (2 * k - 1)
    else:
        y = TARGETS[name].inverse(given + noise)
        centre, square = y @ weight, y**2 @ weight
    total = weight @ centre
    return Moments(total, weight @ (square - centre**2), weight @ (centre - total) ** 2)


@pytest.mark.parametrize("name", ["positive", "fraction", "count"])
@pytest.mark.parametrize(
    "parts", [(0.3, 0.2, 0.1), (-1.0, 1.5, 0.8), (2.0, 0.25, 1.2), (9.0, 0.3, 2.0)]
)
def test_moments_are_those_of_the_law_of_total_variance(name, parts) -> None:
    p = predicted(name, *parts)
    expected = by_brute_force(name, *parts)
    np.testing.assert_allclose(p.mean[0], expected.mean, rtol=1e-5)
    np.testing.assert_allclose(p.aleatoric_variance[0], expected.aleatoric_variance, rtol=1e-4)
    np.testing.assert_allclose(p.epistemic_variance[0], expected.epistemic_variance, rtol=1e-4)


def test_positive_is_log_normal() -> None:
    mean, aleatoric, epistemic = 1.2, 0.3, 0.5
    p = predicted("positive", mean, aleatoric, epistemic)
    law = stats.lognorm(s=np.sqrt(aleatoric + epistemic), scale=np.exp(mean))
    np.testing.assert_allclose(p.mean, law.mean())
    np.testing.assert_allclose(p.variance, law.var())
    np.testing.assert_allclose(p.quantile(0.5), np.exp(mean))
    np.testing.assert_allclose(p.log_prob(np.array([2.5])), law.logpdf(2.5))
    np.testing.assert_allclose(p.cdf(np.array([2.5])), law.cdf(2.5))


@pytest.mark.parametrize("name", ["positive", "fraction", "count"])
def test_samples_have_the_moments(name) -> None:
    p = predicted(name, [0.5, 1.5], 0.2, 0.1)
    samples = p.sample(200_000, "gaussian", random_state=0)
    np.testing.assert_allclose(samples.mean(0), p.mean, rtol=0.01)
    np.testing.assert_allclose(samples.std(0), p.std, rtol=0.02)
    assert TARGETS[name].allows(samples).all()


@settings(max_examples=40, deadline=None)
@given(kind=st.sampled_from(SMOOTH), mean=means, aleatoric=variances, epistemic=variances)
def test_densities_agree_with_the_moments(kind, mean, aleatoric, epistemic) -> None:
    z = mean + np.sqrt(aleatoric + epistemic) * np.linspace(-9, 9, 4001)
    y = TARGETS[kind].inverse(z)
    y, z = (part[TARGETS[kind].allows(y)] for part in (y, z))
    p = predicted(kind, np.full(len(y), mean), aleatoric, epistemic)
    density = np.exp(p.log_prob(y))
    # Integrated over z, with dy/dz by differences.
    slope = np.gradient(y, z)
    for power, expected in ((0, 1.0), (1, p.mean[0]), (2, p.variance[0] + p.mean[0] ** 2)):
        found = integrate.trapezoid(density * y**power * slope, z)
        np.testing.assert_allclose(found, expected, rtol=2e-3)


@settings(max_examples=40, deadline=None)
@given(
    mean=means, aleatoric=variances, epistemic=variances, law=st.sampled_from(["gaussian", "mixture"])
)
def test_probabilities_of_counts_sum_to_one(mean, aleatoric, epistemic, law) -> None:
    k = np.arange(400.0)
    p = predicted(WHOLE, np.full(len(k), mean), aleatoric, epistemic)
    mass = np.exp(p.log_prob(k, law))
    np.testing.assert_allclose(mass.sum(), 1, atol=1e-9)
    np.testing.assert_allclose(np.cumsum(mass), p.cdf(k, law), atol=1e-9)
    if law == "gaussian":
        np.testing.assert_allclose(mass @ k, p.mean[0], rtol=1e-6)
        np.testing.assert_allclose(mass @ k**2 - (mass @ k) ** 2, p.variance[0], rtol=1e-5)


def test_improbable_counts_keep_their_digits() -> None:
    # Far above the mean, a difference of two probabilities near one would be 0.
    p = predicted(WHOLE, 1.0, 0.04)
    found = p.log_prob(np.array([20.0]))
    expected = stats.norm.logsf((np.sqrt(19.875) - 1) / 0.2)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    kind=kinds,
    mean=st.floats(-4, 6),
    aleatoric=variances,
    epistemic=variances,
    level=st.floats(0.01, 0.99),
    law=st.sampled_from(["gaussian", "mixture"]),
)
def test_quantiles_are_possible_ordered_and_hold_their_mass(
    kind, mean, aleatoric, epistemic, level, law
) -> None:
    p = predicted(kind, mean, aleatoric, epistemic)
    levels = np.sort([level, 0.2, 0.5, 0.9])
    quantiles = p.quantile(levels, law)
    assert TARGETS[kind].allows(quantiles).all()
    assert (np.diff(quantiles, axis=0) >= 0).all()
    lower, upper = p.interval(level, law)
    if kind == WHOLE:
        # Whole numbers hold at least the level, and one number fewer on either side would not.
        held = p.cdf(upper, law) - p.cdf(lower - 1, law)
        assert held >= level - 1e-9
        assert p.cdf(upper - 1, law) <= (1 + level) / 2 + 1e-9
        assert p.cdf(lower - 1, law) <= (1 - level) / 2 + 1e-9
    else:
        np.testing.assert_allclose(p.cdf(upper, law) - p.cdf(lower, law), level, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "impossible", "below"),
    [
        ("positive", -1.0, 0),
        ("positive", 0.0, 0),
        ("fraction", 0.0, 0),
        ("fraction", 1.0, 1),
        ("count", -1, 0),
    ],
)
def test_impossible_values_have_no_density(kind, impossible, below) -> None:
    p = predicted(kind, 0.3, 0.2, 0.1)
    assert p.log_prob(np.array([impossible])) == -np.inf
    assert p.cdf(np.array([impossible])) == below


def test_numbers_between_counts_have_no_probability() -> None:
    p = predicted(WHOLE, 1.5, 0.2)
    assert p.log_prob(np.array([2.5])) == -np.inf
    assert p.cdf(np.array([2.5])) == p.cdf(np.array([2.0]))


@settings(max_examples=30)
@given(kind=st.sampled_from(SMOOTH), share=st.floats(0.05, 0.95))
def test_measurement_errors_follow_the_slope(kind, share) -> None:
    y, step = np.array([share]), 1e-6
    target = TARGETS[kind]
    slope = (target.transform(y + step) - target.transform(y - step)) / (2 * step)
    np.testing.assert_allclose(target.transformed_std(y, np.array([0.3])), 0.3 * slope, rtol=1e-5)


@given(kind=kinds, value=st.integers(1, 99))
def test_inverses_invert(kind, value) -> None:
    y = np.array([value / (100 if kind == "fraction" else 1)])
    np.testing.assert_allclose(TARGETS[kind].inverse(TARGETS[kind].transform(y)), y)


def test_missing_observations_are_possible() -> None:
    for target in TARGETS.values():
        assert target.allows(np.array([np.nan])).all()


LAWS = [stats.poisson(rate) for rate in (0.3, 1, 3, 10, 50)]
LAWS += [stats.nbinom(size, size / (size + mean)) for mean in (0.5, 3, 50) for size in (0.5, 2)]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.dist.name}{law.args}")
def test_counts_suit_poisson_and_negative_binomial_data(law) -> None:
    """With the mean and variance of z that the data have: right mean, and ranges that hold enough."""
    k = np.arange(2_000.0)
    weight, z = law.pmf(k), TARGETS[WHOLE].transform(k)
    mean = weight @ z
    p = predicted(WHOLE, mean, weight @ (z - mean) ** 2)
    np.testing.assert_allclose(p.mean, law.mean(), rtol=0.06)
    for level in (0.8, 0.95):
        (lower,), (upper,) = p.interval(level)
        assert weight[(k >= lower) & (k <= upper)].sum() >= level - 0.01
    # No range that is much longer than that of the law itself.
    shortest = law.ppf(0.975) - law.ppf(0.025)
    assert upper - lower <= shortest + max(2, 0.15 * shortest)
