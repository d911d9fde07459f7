"""Scores of image regression: raw and calibrated, inside and outside the training range."""

from typing import Any

import numpy as np

from vebnn import metrics
from vebnn.bench.forecasts import Forecast, central_interval, scores
from vebnn.datasets.images import Images

NUM_BINS = 20
# Numbers that a factor on the variance changes; raw ones have the prefix.
RAW = "raw_"
_OF_VARIANCES = ("tll", "coverage", "interval_length", "crps")

Scores = dict[str, Any]
Curve = dict[str, list[float] | None]


def score_images(forecast: Forecast, factor: float, images: Images) -> Scores:
    """Return the numbers of a row.

    Args:
      forecast: of the images, not calibrated.
      factor: of the paper's calibration, on the total variance.
      images: test images. If their mean and noise are known, the scores against the truth are those of
        images like the training images; ``outside_coverage`` is that of the others.

    Returns:
      Calibrated scores, and raw ones with the prefix ``raw_``. ``None`` is a number that needs
      something the images or the method do not have.
    """
    calibrated = scaled(forecast, factor)
    raw = scores(forecast, images.y)
    shifted = shifted_rows(images)
    return {
        **scores(calibrated, images.y),
        **{f"{RAW}{name}": raw[name] for name in _OF_VARIANCES},
        "inside_coverage": _coverage_inside(calibrated, images.y, shifted),
        **shift_scores(forecast, shifted),
        **truth_scores(calibrated, images),
        **{f"{RAW}{name}": value for name, value in truth_scores(forecast, images).items()},
        "factor": factor,
        "curve": label_curve(forecast, images.y, shifted),
        "noise_levels": noise_levels(forecast, images),
    }


def scaled(forecast: Forecast, factor: float) -> Forecast:
    """Return the forecast with both parts of its variance multiplied by a factor."""
    noise = None if forecast.noise_variance is None else factor * forecast.noise_variance
    return forecast._replace(variance=factor * forecast.variance, noise_variance=noise)


def shifted_rows(images: Images) -> np.ndarray:
    """Return which images are unlike the training images."""
    return np.zeros(len(images.y), bool) if images.shifted is None else np.asarray(images.shifted, bool)


def shift_scores(forecast: Forecast, shifted: np.ndarray) -> Scores:
    """Return the mean of each std inside and outside the training range, and outside over inside."""
    found: Scores = {}
    parts = {"epistemic": forecast.epistemic_std, "aleatoric": forecast.noise_std}
    for name, std in parts.items():
        inside = None if std is None or shifted.all() else float(std[~shifted].mean())
        outside = None if std is None or not shifted.any() else float(std[shifted].mean())
        found[f"{name}_std_inside"], found[f"{name}_std_outside"] = inside, outside
        found[f"{name}_ratio"] = outside / inside if inside and outside else None
    return found


def truth_scores(forecast: Forecast, images: Images) -> Scores:
    """Return the scores against the known mean and noise.

    With m and σ the true mean and noise std of images like the training images, and hats for
    predictions: ``noise_error`` is the mean of \\|σ̂ − σ\\| / σ, ``wasserstein`` the mean distance of
    (m̂, σ̂) from (m, σ), ``epistemic_coverage`` the share of m inside m̂ ± 1.96 epistemic stds,
    ``epistemic_interval_length`` the length of these intervals, ``epistemic_log_likelihood`` the mean
    log density of m, and ``outside_coverage`` the coverage of m for all other images.
    """
    shifted = shifted_rows(images)
    inside, outside = forecast.rows(~shifted), forecast.rows(shifted)
    mean, sigma = _known(images.mean, ~shifted), _known(images.noise_std, ~shifted)
    covered = _epistemic_scores(outside, _known(images.mean, shifted))["epistemic_coverage"]
    return {
        **_noise_scores(inside, mean, sigma),
        **_epistemic_scores(inside, mean),
        "outside_coverage": covered,
    }


def _known(truth: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if truth is None or not rows.any() else np.asarray(truth, float)[rows]


def _noise_scores(forecast: Forecast, mean: np.ndarray | None, sigma: np.ndarray | None) -> Scores:
    noise = forecast.noise_std
    if mean is None or sigma is None or noise is None:
        return {"noise_error": None, "wasserstein": None}
    return {
        # An image on whose label all agree has no noise, and no relative error.
        "noise_error": metrics.mean_relative_error(sigma[sigma > 0], noise[sigma > 0]),
        "wasserstein": metrics.wasserstein(mean, sigma, forecast.mean, noise),
    }


def _epistemic_scores(forecast: Forecast, mean: np.ndarray | None) -> Scores:
    std = forecast.epistemic_std
    fields = ("epistemic_coverage", "epistemic_interval_length", "epistemic_log_likelihood")
    if mean is None or std is None:
        return dict.fromkeys(fields)
    interval = central_interval(forecast.mean, std)
    density = metrics.epistemic_log_likelihood(mean, forecast.mean, std**2) if std.all() else None
    found = (metrics.coverage(mean, *interval), metrics.interval_length(*interval), density)
    return dict(zip(fields, found, strict=True))


def label_curve(forecast: Forecast, y: np.ndarray, shifted: np.ndarray) -> Curve:
    """Return means over the images of each bin of labels; bins without images are left out.

    ``low`` and ``high`` are the ends of a bin, ``error`` is the RMSE, ``shifted`` the share of images
    outside the training range.
    """
    edges = np.linspace(y.min(), y.max(), NUM_BINS + 1)
    of_row = np.clip(np.searchsorted(edges, y, side="right") - 1, 0, NUM_BINS - 1)
    bins = np.unique(of_row)

    def means(values: np.ndarray | None) -> list[float] | None:
        return None if values is None else [_short(values[of_row == one].mean()) for one in bins]

    squares = means((y - forecast.mean) ** 2) or []
    return {
        "low": [_short(edges[one]) for one in bins],
        "high": [_short(edges[one + 1]) for one in bins],
        "aleatoric_std": means(forecast.noise_std),
        "epistemic_std": means(forecast.epistemic_std),
        "error": [_short(np.sqrt(square)) for square in squares],
        "shifted": means(shifted.astype(float)),
        "num_images": [int(np.sum(of_row == one)) for one in bins],
    }


def noise_levels(forecast: Forecast, images: Images) -> Curve | None:
    """Return the mean predicted noise std for each level of the true one, inside the training range.

    ``low`` and ``high`` hold four fifths of the predictions. Noise that is different for every image
    is put into bins with equally many images.
    """
    inside = ~shifted_rows(images)
    if images.noise_std is None or forecast.noise_std is None or not inside.any():
        return None
    truth, learned = np.asarray(images.noise_std, float)[inside], forecast.noise_std[inside]
    levels = np.unique(truth.round(9))
    groups = [np.flatnonzero(truth.round(9) == level) for level in levels]
    if len(levels) > NUM_BINS:
        groups = np.array_split(np.argsort(truth, kind="stable"), NUM_BINS)
    return {
        "truth": [_short(truth[rows].mean()) for rows in groups],
        "learned": [_short(learned[rows].mean()) for rows in groups],
        "low": [_short(np.quantile(learned[rows], 0.1)) for rows in groups],
        "high": [_short(np.quantile(learned[rows], 0.9)) for rows in groups],
    }


def _coverage_inside(forecast: Forecast, y: np.ndarray, shifted: np.ndarray) -> float | None:
    if shifted.all():
        return None
    return metrics.coverage(y[~shifted], *forecast.rows(~shifted).total_interval())


def _short(value: float) -> float:
    return float(f"{value:.6g}")
