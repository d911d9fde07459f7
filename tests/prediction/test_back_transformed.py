"""Predictions of several outputs, each with a kind of its own."""

import numpy as np
import pytest
from scipy import stats

from vebnn import Prediction
from vebnn.calibration import CommonFactor, ConformalScores, calibrated
from vebnn.prediction import BackTransformed, Components, in_user_units
from vebnn.prediction.targets import TARGETS

NAMES = ("real", "positive", "count")
MEAN = np.array([[0.5, 1.0, 2.0], [-1.0, 0.2, 3.0]])
DRAWS = MEAN + np.array([-0.3, 0.1, 0.2])[:, None, None] * np.array([1.0, 2.0, 0.5])
NOISE = np.full((2, 3), 0.25)


@pytest.fixture
def transformed() -> Prediction:
    # The noise broadcasts over draws, as that of a fitted model does.
    return Prediction(
        DRAWS.mean(0), NOISE, DRAWS.var(0), lambda: Components.of_draws(DRAWS, NOISE[None]), NAMES
    )


@pytest.fixture
def prediction(transformed) -> Prediction:
    return in_user_units(transformed, tuple(TARGETS[name] for name in NAMES))


def one_output(at: int) -> Prediction:
    draws, noise = DRAWS[..., at], NOISE[..., at]
    alone = Prediction(
        draws.mean(0), noise, draws.var(0), lambda: Components.of_draws(draws, noise[None])
    )
    return in_user_units(alone, (TARGETS[NAMES[at]],))


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("kind", ["gaussian", "mixture"])
def test_every_output_is_that_of_its_kind(prediction, at, kind) -> None:
    alone, y = one_output(at), np.array([[0.4, 2.0, 5.0], [-0.8, 1.0, 8.0]])
    for name in ("mean", "aleatoric_variance", "epistemic_variance"):
        np.testing.assert_allclose(getattr(prediction, name)[:, at], getattr(alone, name))
    levels = np.array([0.1, 0.8])
    np.testing.assert_allclose(prediction.quantile(levels, kind)[..., at], alone.quantile(levels, kind))
    np.testing.assert_allclose(prediction.log_prob(y, kind)[:, at], alone.log_prob(y[:, at], kind))
    np.testing.assert_allclose(prediction.cdf(y, kind)[:, at], alone.cdf(y[:, at], kind))
    np.testing.assert_allclose(prediction.interval(0.9, kind)[1][:, at], alone.interval(0.9, kind)[1])
    np.testing.assert_allclose(prediction.draws[..., at], alone.draws)


def test_draws_are_means_in_the_units_of_y(prediction) -> None:
    np.testing.assert_allclose(prediction.draws[..., 0], DRAWS[..., 0])
    np.testing.assert_allclose(prediction.draws[..., 1], np.exp(DRAWS[..., 1] + 0.25 / 2))
    (mean,) = prediction.modes.mean
    np.testing.assert_array_equal(mean, prediction.mean)


def test_mixtures_average_the_densities_of_the_draws(prediction) -> None:
    y = np.array([2.0, 1.5])
    by_draw = stats.lognorm.pdf(y, s=0.5, scale=np.exp(DRAWS[..., 1]))
    found = prediction.log_prob(np.stack([y, y, np.ones(2)], -1), "mixture")[:, 1]
    np.testing.assert_allclose(np.exp(found), by_draw.mean(0))


def test_real_targets_stay_as_they_are(transformed) -> None:
    assert in_user_units(transformed, (TARGETS["real"],) * 3) is transformed


def test_calibrations_act_on_the_transformed_scale(prediction, transformed) -> None:
    factor = CommonFactor((4.0, 4.0, 4.0), 0.95)
    found = calibrated(prediction, factor)
    assert isinstance(found.law, BackTransformed)
    np.testing.assert_allclose(found.law.transformed.variance, 4 * transformed.variance)
    lower, upper = found.interval(0.9)
    low, high = calibrated(transformed, factor).interval(0.9)
    np.testing.assert_allclose([lower[:, 1], upper[:, 1]], np.exp([low[:, 1], high[:, 1]]))
    assert (lower[:, 1:] >= 0).all()


def test_conformal_intervals_keep_to_the_possible_values(prediction) -> None:
    scores = ConformalScores(((1.0, 2.0, 9.0),) * 3, 3)
    found = calibrated(prediction, scores)
    lower, upper = found.interval(0.6)
    std = np.sqrt(NOISE + DRAWS.var(0))
    for sign, end in ((-1, lower), (1, upper)):
        z = DRAWS.mean(0) + sign * 9 * std
        np.testing.assert_allclose(end[:, 0], z[:, 0])
        np.testing.assert_allclose(end[:, 1], np.exp(z[:, 1]))
    assert (lower[:, 1:] >= 0).all()
    # Quantiles stay those of the model.
    np.testing.assert_array_equal(found.quantile(0.5), prediction.quantile(0.5))


def test_frames_have_possible_ranges(prediction) -> None:
    frame = prediction.to_frame(0.999)
    assert (frame["positive_lower"] > 0).all()
    assert (frame["count_lower"] >= 0).all()


def test_ranges_of_the_parts(prediction) -> None:
    z, noise, spread = DRAWS.mean(0), 0.5, DRAWS.std(0)
    reach = stats.norm.ppf(0.95)
    for sign, of_noise, of_mean in zip(
        (-1, 1), prediction.noise_interval(0.9), prediction.mean_interval(0.9), strict=True
    ):
        np.testing.assert_allclose(of_noise[:, 0], z[:, 0] + sign * reach * noise)
        np.testing.assert_allclose(of_noise[:, 1], np.exp(z[:, 1] + sign * reach * noise))
        np.testing.assert_allclose(of_mean[:, 0], z[:, 0] + sign * reach * spread[:, 0])
        # The mean of y where the mean of z is at the end of its interval.
        end = z[:, 1] + sign * reach * spread[:, 1]
        np.testing.assert_allclose(of_mean[:, 1], np.exp(end + noise**2 / 2))


def test_errors_are_in_stds_of_the_scale_that_is_learned(prediction) -> None:
    y = np.array([[0.4, 2.0, 5.0], [-0.8, 1.0, 8.0]])
    z = np.stack([y[:, 0], np.log(y[:, 1]), np.sqrt(y[:, 2] + 3 / 8)], axis=-1)
    expected = (z - DRAWS.mean(0)) / np.sqrt(NOISE + DRAWS.var(0))
    np.testing.assert_allclose(prediction.standardised_error(y), expected)
