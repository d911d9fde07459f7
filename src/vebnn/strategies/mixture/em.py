"""Step 2 with several modes: expectation-maximisation of the noise, means and coefficients fixed."""

from typing import Any, NamedTuple

import jax
import numpy as np

from vebnn.core.types import Dataset, Key, ResidualDataset
from vebnn.likelihoods.mixture import Mixture, by_mode, flat, responsibilities
from vebnn.networks import Network
from vebnn.strategies.cooperative.noise import Noise
from vebnn.strategies.cooperative.residuals import unit_of
from vebnn.strategies.cooperative.variance import train_variance
from vebnn.training import Stage, Training

# Weight of a row for a mode it does not belong to: a mode without any row keeps a finite noise.
SMALLEST_WEIGHT = 1e-6


class RowModes(NamedTuple):
    """Modes at the training rows; all ``(rows, ..., outputs, modes)``."""

    mixture: Mixture
    offset: np.ndarray  # the part of a row's variance around its mode's mean that is not noise


def e_step(data: Dataset, modes: RowModes, variance: np.ndarray) -> np.ndarray:
    """Return each row's weight for each mode, by Bayes' rule, ``(rows, ..., outputs · modes)``."""
    share = responsibilities(data.target, modes.mixture, variance + modes.offset)
    return flat(data.weight[..., None] * np.maximum(np.asarray(share), SMALLEST_WEIGHT))


def learn_noise(
    key: Key,
    start: Network,
    data: Dataset,
    modes: RowModes,
    variance: np.ndarray,
    settings: Any,
    stage: Stage,
) -> Noise:
    """Learn the noise of every mode, from a fresh network and a first ``variance`` of every mode."""
    training: Training = settings.variance_training
    squared = flat((data.target[..., None] - np.asarray(modes.mixture.mean)) ** 2)
    for repeat in range(settings.em_steps):
        weight = e_step(data, modes, variance)
        # M step: Gamma likelihood of the squared residuals of each mode, weighted by membership.
        residuals = ResidualDataset(data.x, squared, weight, flat(modes.offset))
        noise = train_variance(
            jax.random.fold_in(key, repeat),
            start,
            "gamma",
            residuals,
            training,
            scale=unit_of(residuals, rescaled=settings.rescale_residuals),
            stage=stage.within(str(repeat + 1)),
        )
        variance = noise_of_modes(noise, data.x, settings.num_modes)
        start = noise.draws
    return noise


def noise_of_modes(noise: Noise, x: np.ndarray, num_modes: int) -> np.ndarray:
    """Return the noise of every mode, ``(rows, ..., outputs, modes)``."""
    return by_mode(noise.variance(x), num_modes)
