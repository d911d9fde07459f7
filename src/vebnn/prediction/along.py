"""Samples of sequences: noise that goes together along time, and means that follow whole draws."""

import numpy as np
from scipy import linalg

SMALLEST = 1e-6  # white part of the noise: without any, a smooth covariance has no Cholesky factor


def correlated_noise(white: np.ndarray, autocorrelation: np.ndarray) -> np.ndarray:
    """Return standard normal noise with this correlation along time.

    Args:
      white: independent, ``(samples, sequences, time, ...)``.
      autocorrelation: at two steps by their distance; farther steps are not correlated.
    """
    time = white.shape[2]
    known = np.asarray(autocorrelation[:time], float)
    first = np.zeros(time)
    first[: len(known)] = (1 - SMALLEST) * known
    first[0] = 1.0
    root = np.linalg.cholesky(linalg.toeplitz(first))
    return np.einsum("ts,bns...->bnt...", root, white)


def gaussian_deviations(
    draws: np.ndarray, std: np.ndarray, num_samples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return deviations from the mean with the covariance of the draws, scaled to a given std.

    Args:
      draws: ``(draws, *shape)``.
      std: ``shape``.
    """
    weights = rng.standard_normal((num_samples, len(draws))) / np.sqrt(len(draws))
    raw = draws.std(axis=0)
    # Means that do not vary have no direction to go.
    factor = np.divide(std, raw, out=np.zeros_like(raw), where=raw > 0)
    return np.einsum("sd,d...->s...", weights, draws - draws.mean(axis=0)) * factor
