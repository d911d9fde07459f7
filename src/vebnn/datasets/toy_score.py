"""Predictions of the one-dimensional example against its known mean and noise."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats

from vebnn.datasets.toy import DATA_RANGE, PLOT_RANGE, NoiseKind, observe, true_mean, true_noise_std
from vebnn.metrics import coverage, log_likelihood, mean_relative_error, rmse
from vebnn.prediction import Prediction

NUM_FRESH = 10_000
NUM_OUTSIDE = 1_000  # as in the paper's appendix
INSIDE = np.linspace(*DATA_RANGE, 501)
OUTSIDE = np.linspace(PLOT_RANGE[1] - 1, PLOT_RANGE[1], 51)


class ToyScore(NamedTuple):
    """Scores in the units of y."""

    mean_rmse: float  # predicted mean against x sin x, on [0, 10]
    noise_error: float  # mean relative error of the aleatoric std, on [0, 10]
    coverage: float  # share of fresh observations in [0, 10] inside their 95 % interval
    epistemic_inside: float  # mean epistemic std on [0, 10]
    epistemic_outside: float  # mean epistemic std on [13, 14]
    tll_inside: float  # log-likelihood of fresh observations in [0, 10]
    tll_outside: float  # log-likelihood of fresh observations in [−4, 0] and [10, 14]
    outside_coverage: float  # share of x sin x there inside its epistemic 95 % interval

    @property
    def epistemic_ratio(self) -> float:
        """Return the epistemic std outside the data over that inside."""
        return self.epistemic_outside / self.epistemic_inside


def score_toy(predict: Callable[[np.ndarray], Prediction], seed: int) -> ToyScore:
    """Compare predictions of inputs ``(n, 1)`` with the truth; the seed draws fresh observations."""
    inside, outside = predict(INSIDE[:, None]), predict(OUTSIDE[:, None])
    # The second number keeps this stream apart from that of the training data.
    rng = np.random.default_rng([seed, 1])
    x = rng.uniform(*DATA_RANGE, NUM_FRESH)
    y = observe(x, "heteroscedastic", rng)
    fresh = predict(x[:, None])
    x_far, y_far = observe_outside("heteroscedastic", rng)
    far = predict(x_far[:, None])
    return ToyScore(
        mean_rmse=rmse(true_mean(INSIDE), inside.mean),
        noise_error=mean_relative_error(true_noise_std(INSIDE), inside.aleatoric_std),
        coverage=coverage(y, *fresh.interval(0.95)),
        epistemic_inside=float(inside.epistemic_std.mean()),
        epistemic_outside=float(outside.epistemic_std.mean()),
        tll_inside=log_likelihood(y, fresh.mean, fresh.variance),
        tll_outside=log_likelihood(y_far, far.mean, far.variance),
        outside_coverage=epistemic_coverage(true_mean(x_far), far),
    )


def epistemic_coverage(truth: np.ndarray, prediction: Prediction) -> float:
    """Return the share of true means inside the epistemic 95 % interval."""
    half = stats.norm.ppf(0.975) * prediction.epistemic_std
    return coverage(truth, prediction.mean - half, prediction.mean + half)


def observe_outside(noise: NoiseKind, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw inputs and observations from the plotted range on both sides of the data."""
    x = rng.uniform(PLOT_RANGE[0], PLOT_RANGE[1] - (DATA_RANGE[1] - DATA_RANGE[0]), NUM_OUTSIDE)
    x = np.where(x < DATA_RANGE[0], x, x + DATA_RANGE[1] - DATA_RANGE[0])
    return x, observe(x, noise, rng)
