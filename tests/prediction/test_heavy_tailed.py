"""Predictions with Student-t noise, against SciPy and against integrals."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats

from vebnn import Prediction
from vebnn.calibration import ConformalScores, calibrated
from vebnn.prediction import Components, crps, steps_as_rows
from vebnn.prediction.heavy_tailed import precisions

FREEDOM, SCALE = 3.0, 0.5
VARIANCE = SCALE**2 * FREEDOM / (FREEDOM - 2)
DRAWS = np.array([[0.8, -1.0], [1.0, -0.5], [1.5, -0.2]])  # (draws, rows)


def predicted(draws: np.ndarray = DRAWS, freedom: float = FREEDOM) -> Prediction:
    noise = np.full(draws.shape[1:], VARIANCE)
    return Prediction(
        draws.mean(0),
        noise,
        draws.var(0),
        lambda: Components.of_draws(draws, noise[None]),
        degrees_of_freedom=np.asarray(freedom),
    )


CERTAIN = predicted(np.repeat(DRAWS[:1], 3, axis=0))
NOISE = stats.t(FREEDOM, CERTAIN.mean, SCALE)
FAR = CERTAIN.mean + np.array([-60.0, 0.3])


@pytest.mark.parametrize("kind", ["gaussian", "mixture"])
def test_with_a_certain_mean_it_is_the_student_t(kind) -> None:
    np.testing.assert_allclose(CERTAIN.log_prob(FAR, kind), NOISE.logpdf(FAR), atol=1e-6)
    np.testing.assert_allclose(CERTAIN.cdf(FAR, kind), NOISE.cdf(FAR), rtol=1e-6)
    np.testing.assert_allclose(CERTAIN.quantile(0.99, kind), NOISE.ppf(0.99), rtol=1e-6)
    np.testing.assert_allclose(CERTAIN.interval(0.9, kind), NOISE.interval(0.9), rtol=1e-6)
    np.testing.assert_allclose(CERTAIN.noise_interval(0.9), NOISE.interval(0.9))
    np.testing.assert_allclose(CERTAIN.aleatoric_std, NOISE.std())


@pytest.mark.parametrize("y", [-30.0, 0.0, 2.0])
@pytest.mark.parametrize("freedom", [2.5, 8.0, 100.0])
def test_with_an_uncertain_mean_it_is_the_convolution(y, freedom) -> None:
    p = predicted(freedom=freedom)
    scale = np.sqrt(VARIANCE * (freedom - 2) / freedom)
    for row in range(2):
        mean, std = p.mean[row], p.epistemic_std[row]

        def average(of_noise, mean=mean, std=std) -> float:
            ends = mean - 9 * std, mean + 9 * std
            return integrate.quad(
                lambda m: of_noise(y, freedom, m, scale) * stats.norm.pdf(m, mean, std), *ends
            )[0]

        density = p.log_prob(np.array([y, y]))[row]
        assert density == pytest.approx(np.log(average(stats.t.pdf)), abs=1e-5)
        below = p.cdf(np.array([y, y]))[row]
        assert below == pytest.approx(average(stats.t.cdf), rel=1e-5)


def test_the_mixture_averages_over_the_draws() -> None:
    p, y = predicted(), np.array([3.0, -0.4])
    each = stats.t(FREEDOM, DRAWS, SCALE)
    np.testing.assert_allclose(p.log_prob(y, "mixture"), np.log(each.pdf(y).mean(0)))
    np.testing.assert_allclose(p.cdf(y, "mixture"), each.cdf(y).mean(0))
    np.testing.assert_array_equal(p.draws, DRAWS)


@pytest.mark.parametrize("kind", ["gaussian", "mixture"])
def test_quantiles_invert_the_distribution_function(kind) -> None:
    levels = np.array([0.001, 0.2, 0.975])
    for level, found in zip(levels, predicted().quantile(levels, kind), strict=True):
        np.testing.assert_allclose(predicted().cdf(found, kind), level, rtol=1e-6)


@pytest.mark.parametrize("kind", ["gaussian", "mixture"])
def test_samples_follow_the_distribution(kind) -> None:
    p = predicted()
    drawn = p.sample(4_000, kind, random_state=3)
    for row in range(2):

        def cdf(values, row=row) -> np.ndarray:
            return np.array([p.cdf(np.full(2, value), kind)[row] for value in values])

        some = np.sort(drawn[:, row])[::40]
        np.testing.assert_allclose(cdf(some), np.arange(0, 4_000, 40) / 4_000, atol=0.03)


def test_every_output_has_its_own_degrees_of_freedom() -> None:
    draws = np.stack([DRAWS, DRAWS + 1], axis=-1)
    both = predicted(draws, np.array([3.0, 50.0]))
    y = np.array([[2.0, 4.0], [1.0, -2.0]])
    for at, freedom in enumerate((3.0, 50.0)):
        alone = predicted(draws[..., at], freedom)
        for kind in ("gaussian", "mixture"):
            found = both.log_prob(y, kind)[:, at]
            np.testing.assert_allclose(found, alone.log_prob(y[:, at], kind))
            np.testing.assert_allclose(both.quantile(0.9, kind)[:, at], alone.quantile(0.9, kind))
        np.testing.assert_allclose(crps(both, y)[:, at], crps(alone, y[:, at]))


def test_crps_is_the_integral_of_its_definition() -> None:
    p, y = predicted(), np.array([2.5, -0.6])
    mean, noise, epistemic = p.mean, p.aleatoric_variance, p.epistemic_variance
    t = np.concatenate([-np.geomspace(1e4, 1e-4, 8_000), np.geomspace(1e-4, 1e4, 8_000)])
    for row in range(2):
        at = t + y[row]
        parts = (np.full(16_000, part[row]) for part in (mean, noise, epistemic))
        many = Prediction(*parts, p.load_components, degrees_of_freedom=np.array(FREEDOM))
        below = many.cdf(at)
        expected = np.trapezoid((below - (t > 0)) ** 2, at)
        assert crps(p, y)[row] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("freedom", [2.5, 5.0, 100.0])
def test_precisions_average_to_one(freedom: float) -> None:
    precision, weight = precisions(np.array(freedom))
    assert weight.sum() == pytest.approx(1)
    assert np.sum(weight * precision) == pytest.approx(1, rel=1e-6)
    np.testing.assert_allclose(np.sum(weight / precision), freedom / (freedom - 2), rtol=1e-2)


def test_standardised_errors_are_normal_scores() -> None:
    y = np.array([9.0, -0.55])
    found = predicted().standardised_error(y)
    np.testing.assert_allclose(found, stats.norm.ppf(predicted().cdf(y)), rtol=1e-6)


def test_conformal_intervals_are_multiples_of_the_std() -> None:
    p = calibrated(predicted(), ConformalScores(((0.5, 1.0, 2.0, 3.0),), 4))
    lower, upper = p.interval(0.6)
    np.testing.assert_allclose(upper - p.mean, 2 * p.std)
    np.testing.assert_allclose(p.mean - lower, 2 * p.std)
    np.testing.assert_array_equal(p.log_prob(p.mean), predicted().log_prob(p.mean))


def test_many_degrees_of_freedom_are_nearly_a_gaussian() -> None:
    heavy = predicted(freedom=100.0)
    light = replace(heavy, degrees_of_freedom=None)
    y = np.array([1.7, -1.2])
    np.testing.assert_allclose(heavy.log_prob(y), light.log_prob(y), atol=0.03)
    np.testing.assert_allclose(heavy.quantile(0.9), light.quantile(0.9), rtol=0.01)


@pytest.mark.parametrize("outputs", [1, 2])
def test_steps_of_sequences_as_rows_have_the_same_distribution(outputs) -> None:
    sequences = np.random.default_rng(0).normal(size=(4, 2, 3, outputs))  # draws, rows, time, outputs
    freedom = np.array([3.0, 9.0])[:outputs]
    p = predicted(sequences, freedom)
    rows = steps_as_rows(p, (np.array([0, 1]), np.array([2, 0])), ("a", "b")[:outputs])
    for kind in ("gaussian", "mixture"):
        upper = p.quantile(0.9, kind)
        expected = np.stack([upper[0, 2], upper[1, 0]]).reshape(rows.mean.shape)
        np.testing.assert_allclose(rows.quantile(0.9, kind), expected)
