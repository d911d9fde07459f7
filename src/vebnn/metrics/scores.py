"""Proper scores: on average, no distribution scores better than the true one."""

import numpy as np
from scipy import special, stats

from vebnn.metrics.arrays import matched, numbers, require_positive


def log_likelihood(target: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> float:
    """Test log-likelihood (TLL): mean of log N(target | mean, variance) over rows and outputs.

    The paper's eq. "TLL" with the Gaussian of mean and total variance. Larger is better.
    """
    target, mean, variance = matched(target=target, mean=mean, variance=variance)
    require_positive("variance", variance)
    return float(np.mean(stats.norm.logpdf(target, mean, np.sqrt(variance))))


def epistemic_log_likelihood(
    truth: np.ndarray, mean: np.ndarray, epistemic_variance: np.ndarray
) -> float:
    """Epistemic TLL: mean of log N(truth | mean, epistemic variance) for the noiseless truth.

    The paper's eq. "TLL" where the truth is known. Larger is better.
    """
    arrays = matched(truth=truth, mean=mean, epistemic_variance=epistemic_variance)
    require_positive("epistemic_variance", arrays[-1])
    return log_likelihood(*arrays)


def mixture_log_likelihood(target: np.ndarray, means: np.ndarray, variances: np.ndarray) -> float:
    """Test log-likelihood of the exact mixture of one Gaussian per draw.

    log of the mean over draws of N(target | mean, variance), averaged over rows and outputs: the
    paper's eq. 11 before it is approximated by one Gaussian. Larger is better.

    Args:
      target: the observations.
      means: ``(draws, *shape of the targets)``.
      variances: any shape that broadcasts to that of ``means``, such as that of the targets.
    """
    target, means, variances = _mixture(target, means, variances)
    by_draw = stats.norm.logpdf(target, means, np.sqrt(variances))
    return float(np.mean(special.logsumexp(by_draw, axis=0) - np.log(len(means))))


def crps(target: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> float:
    """Continuous ranked probability score of N(mean, variance), averaged over rows and outputs.

    ∫ (F(z) − 1{target ≤ z})² dz in closed form (Gneiting and Raftery 2007, sec. 4.2, with the sign of a
    loss), in the units of the target. Smaller is better.
    """
    target, mean, variance = matched(target=target, mean=mean, variance=variance)
    require_positive("variance", variance)
    std = np.sqrt(variance)
    return float(np.mean(_expected_distance(target - mean, std) - std / np.sqrt(np.pi)))


def mixture_crps(target: np.ndarray, means: np.ndarray, variances: np.ndarray) -> float:
    """Continuous ranked probability score of the exact mixture of one Gaussian per draw.

    E|Y − target| − ½ E|Y − Y'| for independent Y, Y' from the mixture, in closed form (Grimit et al.
    2006, eq. 5). The cost is quadratic in the number of draws. Arguments are those of
    :func:`mixture_log_likelihood`. Smaller is better.
    """
    target, means, variances = _mixture(target, means, variances)
    num_draws = len(means)
    to_target = np.mean(_expected_distance(target - means, np.sqrt(variances)), axis=0)
    # A draw with itself: E|Y − Y'| = 2 std/√π. Every other pair counts twice.
    spread = np.sum(2 * np.sqrt(variances / np.pi), axis=0)
    for n in range(1, num_draws):
        std = np.sqrt(variances[n] + variances[:n])
        spread += 2 * np.sum(_expected_distance(means[n] - means[:n], std), axis=0)
    return float(np.mean(to_target - spread / (2 * num_draws**2)))


def _mixture(
    target: np.ndarray, means: np.ndarray, variances: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    target, means = numbers("target", target), numbers("means", means)
    variances = numbers("variances", variances)
    require_positive("variances", variances)
    if means.shape[1:] != target.shape:
        raise ValueError(
            f"The `means` must have shape (draws, *shape of the `target`), here (draws, "
            f"{', '.join(map(str, target.shape))}). Got {means.shape}."
        )
    try:
        return target, means, np.broadcast_to(variances, means.shape)
    except ValueError:
        raise ValueError(
            f"The `variances` must broadcast to the shape of the `means`, {means.shape}. Got "
            f"{variances.shape}."
        ) from None


def _expected_distance(offset: np.ndarray, std: np.ndarray) -> np.ndarray:
    """Return E|offset + std · ε| for standard normal ε."""
    z = offset / std
    return 2 * std * stats.norm.pdf(z) + offset * (2 * special.ndtr(z) - 1)
