"""Scores of images, computed by hand."""

import numpy as np
import pytest
from scipy import stats

from vebnn.bench.forecasts import Forecast
from vebnn.bench.image_scores import NUM_BINS, score_images
from vebnn.datasets.images import Images

X = np.zeros((4, 2, 2, 1), np.uint8)
Y = np.array([0.0, 10.0, 20.0, 40.0])
NOISE, EPISTEMIC = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 1.0, 2.0, 6.0])
SHIFTED = np.array([False, False, True, True])


def forecast(epistemic: np.ndarray = EPISTEMIC) -> Forecast:
    mean = np.array([1.0, 10.0, 25.0, 20.0])
    return Forecast(mean, NOISE**2 + epistemic**2, notes={"r_hat": 1.1}, noise_variance=NOISE**2)


def test_calibrated_and_raw_scores_differ_by_the_factor() -> None:
    row = score_images(forecast(), 4.0, Images(X, Y, shifted=SHIFTED))
    total = np.sqrt(NOISE**2 + EPISTEMIC**2)
    for before, times in (("", 2), ("raw_", 1)):
        density = stats.norm.logpdf(Y, forecast().mean, times * total).mean()
        assert row[f"{before}tll"] == pytest.approx(density)
        length = 2 * stats.norm.ppf(0.975) * times * total
        assert row[f"{before}interval_length"] == pytest.approx(length.mean())
        assert row[f"{before}coverage"] == np.mean(np.abs(Y - forecast().mean) <= length / 2)
    assert row["rmse"] == pytest.approx(np.sqrt((1 + 0 + 25 + 400) / 4))
    assert row["inside_coverage"] == 1
    assert row["factor"] == 4
    assert row["r_hat"] == 1.1
    assert row["raw_noise_error"] is row["epistemic_coverage"] is row["noise_levels"] is None


def test_means_of_both_stds_inside_and_outside() -> None:
    row = score_images(forecast(), 4.0, Images(X, Y, shifted=SHIFTED))
    assert (row["aleatoric_std_inside"], row["aleatoric_std_outside"]) == pytest.approx((1.5, 3.5))
    assert (row["epistemic_std_inside"], row["epistemic_std_outside"]) == pytest.approx((1.0, 4.0))
    assert row["aleatoric_ratio"] == pytest.approx(3.5 / 1.5)
    assert row["epistemic_ratio"] == pytest.approx(4.0)


def test_one_network_and_a_set_without_a_shift_have_no_ratio() -> None:
    alone = score_images(forecast(np.zeros(4)), 1.0, Images(X, Y, shifted=SHIFTED))
    assert alone["epistemic_ratio"] is alone["epistemic_std_inside"] is None
    assert alone["curve"]["epistemic_std"] is None
    same = score_images(forecast(), 1.0, Images(X, Y))
    assert same["epistemic_ratio"] is same["aleatoric_std_outside"] is None
    assert same["aleatoric_std_inside"] == pytest.approx(2.5)


def test_scores_against_the_truth_are_those_inside() -> None:
    truth, sigma = np.array([0.0, 13.0, 25.0, 33.0]), np.array([2.0, 2.0, 1.0, 1.0])
    row = score_images(forecast(), 4.0, Images(X, Y, truth, sigma, SHIFTED))
    assert row["raw_noise_error"] == pytest.approx((0.5 + 0) / 2)
    assert row["noise_error"] == pytest.approx((0 + 1) / 2)
    # Errors of the mean are 1 and 3, against 1.96 stds of 1, and of 2 after calibration.
    assert row["raw_epistemic_coverage"] == 0.5
    assert row["epistemic_coverage"] == 1
    assert row["raw_epistemic_interval_length"] == pytest.approx(2 * stats.norm.ppf(0.975))
    # Outside they are 0 and 13, against 1.96 stds of 2 and 6, and of twice that.
    assert row["raw_outside_coverage"] == 0.5
    assert row["outside_coverage"] == 1
    assert row["raw_wasserstein"] == pytest.approx((np.hypot(1, 1) + 3) / 2)
    density = stats.norm.logpdf([1, 3]).mean()
    assert row["raw_epistemic_log_likelihood"] == pytest.approx(density)
    levels = row["noise_levels"]
    assert levels["truth"] == [2.0]
    assert levels["learned"] == [1.5]


def test_images_without_noise_have_no_relative_error() -> None:
    sigma = np.array([0.0, 4.0, 0.0, 0.0])
    row = score_images(forecast(), 1.0, Images(X, Y, Y, sigma))
    assert row["noise_error"] == pytest.approx(0.5)


def test_the_curve_has_a_bin_for_every_label() -> None:
    curve = score_images(forecast(), 1.0, Images(X, Y, shifted=SHIFTED))["curve"]
    assert curve["low"] == [0.0, 10.0, 20.0, 38.0]
    assert curve["high"] == [2.0, 12.0, 22.0, 40.0]
    assert 40 / NUM_BINS == 2
    assert curve["aleatoric_std"] == pytest.approx(NOISE)
    assert curve["epistemic_std"] == pytest.approx(EPISTEMIC)
    assert curve["error"] == pytest.approx([1, 0, 5, 20])
    assert curve["shifted"] == [0, 0, 1, 1]
    assert curve["num_images"] == [1, 1, 1, 1]


def test_noise_of_many_levels_is_binned() -> None:
    sigma = np.linspace(1, 5, 200)
    y = np.zeros(200)
    images = Images(np.zeros((200, 1, 1, 1), np.uint8), y, y, sigma)
    learned = Forecast(y + 0.1, 2 * sigma**2, noise_variance=sigma**2)
    levels = score_images(learned, 1.0, images)["noise_levels"]
    assert len(levels["truth"]) == NUM_BINS
    assert levels["learned"] == pytest.approx(levels["truth"])
