"""Step 2 beyond the paper: draws of the variance network, so that few rows do not fix its shape.

A single variance network bends after the largest residuals. The average of draws from its posterior
bends only where the rows demand it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vebnn.core.types import Key, ResidualDataset
from vebnn.inference import Engine, Posterior, Problem
from vebnn.inference.evaluation import pool_chains
from vebnn.likelihoods.log_likelihoods import IsotropicPrior, SquaredResiduals
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS, VarianceLoss
from vebnn.networks import Network
from vebnn.strategies.cooperative.noise import Noise
from vebnn.strategies.cooperative.residuals import in_units
from vebnn.training import Objective, Stage


class SampledVariance(NamedTuple):
    """The noise, and the posterior it comes from, whose chains the next round continues."""

    noise: Noise
    posterior: Posterior


def sample_variance(
    key: Key,
    initialise: Callable[[Key], Network],
    starts: Network,
    loss: VarianceLoss,
    residuals: ResidualDataset,
    engine: Engine,
    *,
    scale: np.ndarray,
    stage: Stage,
) -> SampledVariance:
    """Sample the variance network: likelihood of squared residuals, N(0, 1) prior on its parameters.

    Args:
      initialise: builds fresh networks, one per key.
      starts: networks that chains start from, stacked.
      residuals: squared residuals and the part of them that is not noise.
      scale: unit of the residuals, one number per output.
    """
    data = in_units(residuals, scale)
    objective = Objective(SquaredResiduals(VARIANCE_HEADS[loss]), IsotropicPrior(np.float32(1)))
    problem = Problem(objective, data, initialise, starts, validation_rows=np.arange(0))
    posterior = engine.run(key, problem, stage)
    trace = posterior.trace
    noise = Noise(pool_chains(posterior.draws), scale, np.asarray(trace.shape[1]), trace.mean(0), loss)
    return SampledVariance(noise, posterior)
