"""Step 2 of the paper: train one variance network on squared residuals (eqs. 6 to 8)."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vebnn.core.types import Array, Dataset, Key, NoisyDataset, Params, ResidualDataset
from vebnn.likelihoods.log_likelihoods import IsotropicPrior, SquaredResiduals, apply_to_rows
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS, VarianceLoss
from vebnn.networks import Network
from vebnn.strategies.cooperative.evidence import log_likelihood, log_mean_exp
from vebnn.strategies.cooperative.fold_stopping import best_epochs_of_folds
from vebnn.strategies.cooperative.noise import Noise
from vebnn.strategies.cooperative.residuals import in_units
from vebnn.training import NegativeLogLikelihood, Objective, Stage, Training, all_rows, train


class Evidence(NamedTuple):
    """Draws of the round before, whose marginal likelihood early stopping watches."""

    outputs: np.ndarray  # (draws, rows, ..., outputs)
    observed: Dataset  # the rows


def train_variance(
    key: Key,
    start: Network,
    loss: VarianceLoss,
    residuals: ResidualDataset,
    settings: Training,
    *,
    scale: np.ndarray,
    evidence: Evidence | None = None,
    fold: np.ndarray | None = None,
    stage: Stage,
) -> Noise:
    """Find the MAP variance network: likelihood of squared residuals, N(0, 1) prior on its weights.

    Args:
      start: the fresh network, stacked as a fleet of one.
      residuals: squared residuals and the part of them that is not noise.
      scale: unit of the residuals, one number per output.
      evidence: if given, early stopping watches the log marginal likelihood, as the paper's code does
        from round 2 on; otherwise the objective itself.
      fold: the fold of each row; if given, fold networks decide on the number of epochs, see
        :mod:`~vebnn.strategies.cooperative.fold_stopping`.
    """
    data = in_units(residuals, scale)
    head, prior = VARIANCE_HEADS[loss], IsotropicPrior(np.float32(1))
    objective, density = Objective(SquaredResiduals(head), prior), SquaredResiduals(head, density=True)
    monitor: Any = _WholeObjective(Objective(density, prior))
    num_epochs = None
    if fold is not None:
        key, key_folds = jax.random.split(key)
        unseen = NegativeLogLikelihood(density)
        num_epochs = best_epochs_of_folds(
            key_folds, objective, unseen, start, data, fold, settings, stage
        )
    if evidence is not None:
        wide = scale.reshape((1,) * (data.squared.ndim - 1) + scale.shape)
        monitor = _MarginalLikelihood(head, *evidence, wide)
    everything = all_rows(len(data.x))
    trained = train(
        key,
        objective,
        start,
        data,
        everything,
        settings,
        watch_rows=everything,
        monitor=monitor,
        num_epochs=num_epochs,
        stage=stage,
    )
    return Noise(trained.params, scale, trained.num_epochs[0], trained.history[0], loss)


class _WholeObjective(eqx.Module):
    """The objective of all rows, per unit of weight."""

    objective: Objective

    def __call__(self, params: Params, data: ResidualDataset) -> Array:
        return self.objective(params, data, 1) / jnp.sum(data.weight)


class _MarginalLikelihood(eqx.Module):
    """Minus LMglk of draws whose outputs are known, as a function of the variance network."""

    head: Any
    outputs: Array
    observed: Dataset
    scale: Array

    def __call__(self, network: Network, data: ResidualDataset) -> Array:
        known = self.observed.known_variance
        variance = (
            self.head.variance(apply_to_rows(network, self.observed.x, None)) * self.scale + known
        )
        observed = NoisyDataset(*self.observed[:3], variance)
        each = jax.lax.map(lambda one: log_likelihood(one, observed), self.outputs)
        return -log_mean_exp(each) / jnp.sum(self.observed.weight)
