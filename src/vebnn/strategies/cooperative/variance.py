"""Step 2: train the variance network on squared residuals (paper, eqs. 6 to 8)."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp

from vebnn.core.types import Array, Dataset, Key, Params
from vebnn.inference.evaluation import by_blocks, pad_to_bucket
from vebnn.likelihoods import gaussian
from vebnn.likelihoods.log_likelihoods import HeadDensity, HeadObjective, IsotropicPrior
from vebnn.training import NegativeLogLikelihood, Objective, Stage, Training, all_rows, pad_rows, train
from vebnn.training.batches import take


class Residuals(NamedTuple):
    """What Step 2 learns from; all ``(rows, ..., outputs)``."""

    squared: np.ndarray
    offset: np.ndarray  # the part of a squared residual's mean that is not noise


class Noise(NamedTuple):
    """A trained variance network."""

    params: Params
    scale: np.ndarray  # (outputs,): factor on the network's variance
    num_epochs: np.ndarray
    history: np.ndarray


def aleatoric_variance(skeleton: Any, head: Any, noise: Noise, x: np.ndarray) -> np.ndarray:
    """Return σ_a²(x), for a Gamma head scale · α/λ (paper, eq. 8)."""
    variance = jax.device_get(_variance(skeleton, head, noise.params, pad_to_bucket(x)))
    return variance[: len(x)] * noise.scale


@eqx.filter_jit
def _variance(skeleton: Any, head: Any, params: Params, x: Array) -> Array:
    network = eqx.combine(params, skeleton)
    return by_blocks(lambda rows: head.variance(jax.vmap(network)(rows)), x)


def train_variance(
    key: Key,
    skeleton: Any,
    head: Any,
    start: Params,
    data: Dataset,
    residuals: Residuals,
    settings: Training,
    *,
    rescale: bool,
    posterior: tuple[np.ndarray, Dataset] | None = None,
    fold: np.ndarray | None = None,
    stage: Stage,
) -> Noise:
    """Find the MAP variance network: likelihood of squared residuals, N(0, 1) prior on its weights.

    Args:
      key: random key.
      skeleton: the variance network without its weights.
      head: what its outputs mean, see :mod:`vebnn.likelihoods.variance_heads`; a Gamma in the paper.
      start: initial weights, stacked as for a fleet of one.
      data: inputs and weights of the rows.
      residuals: squared residuals and the part of them that is not noise.
      settings: epochs, learning rate, batch size, patience.
      rescale: divide residuals by their mean, per output, and multiply σ_a² back. The N(0, 1) prior
        has a scale built in; rescaled, it says "constant noise of the observed size".
      posterior: the outputs of the draws of the round before and the observations they explain.
        If given, early stopping watches the log marginal likelihood, as the paper's code does from
        round 2 on; otherwise the objective itself.
      fold: which fold each row belongs to. If given, it is trained for as many epochs as networks of
        the folds were getting better on rows they do not see. Trained to the end, a network has the
        few large residuals by heart, and those along a sequence, which are alike.
      stage: name and watcher of this piece of work.
    """
    weight = np.asarray(data.weight)
    rows = tuple(range(weight.ndim - 1))
    mean_noise = (weight * residuals.squared).sum(rows) / weight.sum(rows)
    scale = np.maximum(mean_noise, 1e-12) if rescale else np.ones_like(mean_noise)
    learn = data._replace(target=residuals.squared / scale, variance=residuals.offset / scale)
    prior = IsotropicPrior(np.float32(1))
    everything = all_rows(len(data.x))
    objective, density = Objective(HeadObjective(skeleton, head), prior), HeadDensity(skeleton, head)
    monitor: Any = _WholeObjective(Objective(density, prior))
    num_epochs = None
    if fold is not None:
        key, key_folds = jax.random.split(key)
        judge = NegativeLogLikelihood(density)
        num_epochs = _approved_epochs(key_folds, objective, judge, start, learn, fold, settings, stage)
    if posterior is not None:
        outputs, observed = posterior
        wide = scale.reshape((1,) * len(rows) + scale.shape)
        monitor = _MarginalLikelihood(skeleton, head, outputs, observed, wide)
    trained = train(
        key,
        objective,
        start,
        learn,
        everything,
        settings,
        watch_rows=everything,
        monitor=monitor,
        num_epochs=num_epochs,
        stage=stage,
    )
    params = jax.tree.map(lambda leaf: leaf[0], trained.params)
    return Noise(params, scale, trained.num_epochs[0], trained.history[0])


def _approved_epochs(
    key: Key,
    objective: Objective,
    judge: NegativeLogLikelihood,
    start: Params,
    data: Dataset,
    fold: np.ndarray,
    settings: Training,
    stage: Stage,
) -> np.ndarray:
    """Return the number of epochs at which networks of the folds were best on the rows they do not see.

    It is one number for all, by all rows together: those of a single fold are too few to tell.
    """
    members, own = np.arange(fold.max() + 1), np.arange(len(fold))
    searched = train(
        key,
        objective,
        jax.tree.map(lambda leaf: jnp.repeat(leaf, len(members), axis=0), start),
        data,
        pad_rows([own[fold != one] for one in members]),
        settings,
        watch_rows=pad_rows([own[fold == one] for one in members]),
        monitor=judge,
        stage=stage.within("folds"),
    )
    values = searched.history[:, :, 1]
    # Whoever has stopped would not have become better.
    last = values[members, searched.num_epochs - 1]
    values = np.where(np.isnan(values), last[:, None], values)
    counts = np.asarray([data.weight[fold == one].sum() for one in members])
    # A fold in which nothing was observed has nothing to say.
    pooled = np.nansum(counts[:, None] * values, axis=0)
    return np.argmin(pooled, keepdims=True).astype(np.int32) + 1


def log_marginal_likelihood(
    skeleton: Any, draws: Params, observed: Dataset, variance: np.ndarray
) -> Array:
    """Return LMglk = log E_θ[p(y | θ, φ)] over draws (Algorithm 1), on the given rows.

    Args:
      skeleton: the Bayesian network without its weights.
      draws: its weights, draws first.
      observed: inputs, targets and weights.
      variance: the noise of each target.
    """
    rows = np.asarray(all_rows(len(observed.x))[0])
    return _log_marginal_likelihood(skeleton, draws, take(observed, rows), variance[rows])


@eqx.filter_jit
def _log_marginal_likelihood(skeleton: Any, draws: Params, observed: Dataset, variance: Array) -> Array:
    def log_likelihood(params: Params) -> Array:
        outputs = by_blocks(jax.vmap(eqx.combine(params, skeleton)), observed.x)
        return _total_log_prob(outputs, observed, variance)

    return _log_mean_exp(jax.lax.map(log_likelihood, draws))


def _total_log_prob(outputs: Array, observed: Dataset, variance: Array) -> Array:
    return jnp.sum(observed.weight * gaussian.log_prob(observed.target, outputs, variance))


def _log_mean_exp(values: Array) -> Array:
    return logsumexp(values) - jnp.log(values.shape[0])


class _WholeObjective(eqx.Module):
    objective: Objective

    def __call__(self, params: Params, data: Dataset) -> Array:
        return self.objective(params, data, 1) / jnp.sum(data.weight)


class _MarginalLikelihood(eqx.Module):
    """Minus LMglk of draws whose outputs are known, as a function of the variance network."""

    skeleton: Any
    head: Any
    outputs: Array
    observed: Dataset
    scale: Array

    def __call__(self, params: Params, data: Dataset) -> Array:
        raw = jax.vmap(eqx.combine(params, self.skeleton))(self.observed.x)
        variance = self.head.variance(raw) * self.scale + self.observed.variance
        each = jax.lax.map(lambda one: _total_log_prob(one, self.observed, variance), self.outputs)
        return -_log_mean_exp(each) / jnp.sum(self.observed.weight)
