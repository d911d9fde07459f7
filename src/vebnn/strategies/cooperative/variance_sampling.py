"""Step 2 beyond the paper: draws of the variance network, so that few rows do not fix its shape.

A single variance network bends after the largest residuals. The average of draws from its posterior
bends only where the rows demand it.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np

from vebnn.core.types import Key, ResidualDataset
from vebnn.inference import Engine, Posterior, Problem
from vebnn.inference.evaluation import pool_chains
from vebnn.likelihoods.log_likelihoods import IsotropicPrior, SquaredResiduals
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS, VarianceLoss
from vebnn.networks import Network
from vebnn.strategies.cooperative.noise import Noise
from vebnn.strategies.cooperative.residuals import in_units
from vebnn.training import Objective, Stage, Training, all_rows, train

WARM_UP = "warm-up"


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
    warm_up: Training | None = None,
    stage: Stage,
) -> SampledVariance:
    """Sample the variance network: likelihood of squared residuals, N(0, 1) prior on its parameters.

    Args:
      initialise: builds fresh networks, one per key.
      starts: networks that chains start from, stacked.
      residuals: squared residuals and the part of them that is not noise.
      scale: unit of the residuals, one number per output.
      warm_up: trains the starts before chains set out from them. With many rows a posterior is narrow,
        and so are the steps of a chain: it would take long from a fresh network.
    """
    data = in_units(residuals, scale)
    objective = Objective(SquaredResiduals(VARIANCE_HEADS[loss]), IsotropicPrior(np.float32(1)))
    if warm_up is not None:
        key, key_train = jax.random.split(key)
        everything = all_rows(len(data.x), engine.num_starts)
        within = stage.within(WARM_UP)
        starts = train(key_train, objective, starts, data, everything, warm_up, stage=within).params
    problem = Problem(objective, data, initialise, starts, validation_rows=np.arange(0))
    posterior = engine.run(key, problem, stage)
    trace = posterior.trace
    noise = Noise(pool_chains(posterior.draws), scale, np.asarray(trace.shape[1]), trace.mean(0), loss)
    return SampledVariance(noise, posterior)
