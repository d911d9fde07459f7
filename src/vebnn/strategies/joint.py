"""The joint baselines: one network learns mean and noise at the same time.

A joint method is a head (what the outputs mean and what is minimised) and an engine. The engine is
given what it is given in Step 3 of the cooperative algorithm, but for the likelihood.
"""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vebnn.core.types import Dataset, Key, Params
from vebnn.inference import BayesByBackprop, Engine, Posterior, Problem
from vebnn.inference.evaluation import (
    evaluate,
    evaluate_draws,
    mask_padding,
    moments,
    pool_chains,
    probe_rows,
)
from vebnn.inference.problem import check_engine, num_starts
from vebnn.likelihoods.heads import (
    Evidential,
    Head,
    MeanOnly,
    MeanVariance,
    NaturalParameters,
    Parts,
    PredictedParts,
)
from vebnn.likelihoods.log_likelihoods import HeadDensity, HeadObjective, IsotropicPrior
from vebnn.networks.adapters import build_networks
from vebnn.networks.two_networks import ConstantRest, Separate
from vebnn.training import (
    NegativeLogLikelihood,
    Objective,
    Split,
    Stage,
    Trained,
    Training,
    pad_rows,
    split_rows,
    train,
)

Loss = Literal["mse", "nll", "beta_nll", "natural", "evidential"]
Grid = list[tuple[float, float]]  # learning rate and β of every run
LOSSES: tuple[Loss, ...] = ("mse", "nll", "beta_nll", "natural", "evidential")
# These are no log-densities: a sampler that follows their gradients samples nothing in particular.
NOT_A_LIKELIHOOD: tuple[Loss, ...] = ("beta_nll", "evidential")


@dataclass(frozen=True)
class Joint:
    """Settings of a joint method.

    Args:
      network: recipe of the network.
      loss: ``"mse"`` (constant noise), ``"nll"``, ``"beta_nll"``, ``"natural"`` or ``"evidential"``.
      betas: values of β to choose from, for ``"beta_nll"``.
      evidence_penalty: λ of the evidential regulariser.
      variance_head: ``"shared"``, on the trunk of the mean; ``"separate"``, a network of its own; or
        ``"constant"``, the same noise everywhere.
      variance_network: recipe of that network.
      constant_variance: the noise of ``"mse"``, per output, if it is known.
      engine: inference engine.
      training: how warm starts, and the networks that are compared, are trained.
      learning_rates: values to choose from; empty keeps those of ``training`` and the engine.
      weight_decay: L2 factor in these trainings.
      prior_precision: κ of the prior N(0, 1/κ) in what the engine explores.
      validation_fraction: share of the rows that early stopping and all choices watch.
    """

    network: Any
    loss: Loss
    betas: tuple[float, ...]
    evidence_penalty: float
    variance_head: Literal["shared", "separate", "constant"]
    variance_network: Any
    constant_variance: tuple[float, ...] | None
    engine: Engine
    training: Training
    learning_rates: tuple[float, ...]
    weight_decay: float
    prior_precision: float
    validation_fraction: float

    def head(self, beta: float) -> Head:
        """Return what the outputs mean."""
        if self.loss == "mse":
            return MeanOnly()
        if self.loss == "natural":
            return NaturalParameters()
        if self.loss == "evidential":
            return Evidential(np.float32(self.evidence_penalty))
        return MeanVariance(np.float32(beta if self.loss == "beta_nll" else 0))

    def recipe(self) -> Any:
        """Return the network with all its parts."""
        parts = self.head(0.0).parts
        if parts == 1 or self.variance_head == "shared":
            return self.network
        if self.variance_head == "constant":
            return ConstantRest(self.network, parts)
        return Separate(self.network, self.variance_network, parts)


class Trial(NamedTuple):
    """One of the settings that were compared."""

    learning_rate: float
    beta: float
    validation_nll: float  # per observation, in standardised units
    best_epoch: int


class Fitted(NamedTuple):
    """What a joint method leaves behind, in standardised units."""

    posterior: Posterior
    head: Head
    constant_variance: np.ndarray  # (outputs,): noise beside that of the head
    # The draws as functions, (chains, draws, some training rows, ..., outputs); NaN in padding.
    probe: np.ndarray
    probe_x: np.ndarray  # the inputs of these rows
    learning_rate: float
    beta: float
    trials: tuple[Trial, ...]  # empty if there was nothing to choose


def fit_joint(
    key: Key, settings: Joint, data: Dataset, *, held_out: Dataset | None = None, stage: Stage
) -> Fitted:
    """Choose among learning rates and βs, find warm starts, and run the engine.

    Args:
      key: random key; the same key gives the same result on the same machine.
      settings: see :class:`Joint`.
      data: standardised rows; ``variance`` is known measurement variance beside the noise to learn.
      held_out: rows for early stopping and all choices, never trained on.
      stage: name and watcher of the work.
    """
    learner = _Learner(key, settings, data, held_out)
    return learner.finish(learner.compare(stage), stage)


def predict(fitted: Fitted, x: np.ndarray) -> Parts:
    """Return mean, aleatoric and epistemic variance of the whole posterior.

    The noise is its mean over draws; ignorance is the spread of the draws' means, and what each draw
    says of its own (law of total variance).
    """
    mean, spread = moments(*_as_parts(fitted.posterior, fitted.head), x)
    means = Parts(*np.split(mean, 3, axis=-1))
    between = np.split(spread, 3, axis=-1)[0]
    return Parts(
        means.mean,
        means.aleatoric_variance + fitted.constant_variance,
        means.epistemic_variance + between,
    )


def predict_draws(fitted: Fitted, x: np.ndarray) -> Parts:
    """Return the parts that every draw predicts, ``(draws, rows, ..., outputs)`` each."""
    outputs = evaluate_draws(*_as_parts(fitted.posterior, fitted.head), x)
    parts = Parts(*np.split(outputs, 3, axis=-1))
    return parts._replace(aleatoric_variance=parts.aleatoric_variance + fitted.constant_variance)


def _as_parts(posterior: Posterior, head: Head) -> tuple[Any, Params]:
    """Return skeleton and draws of networks that output what the head predicts."""
    nothing = jax.tree.map(lambda _: None, head)
    draws = pool_chains(posterior.draws)
    return PredictedParts(posterior.skeleton, head), PredictedParts(draws, nothing)


class _Learner:
    """What the stages of a joint method share."""

    def __init__(self, key: Key, settings: Joint, data: Dataset, held_out: Dataset | None) -> None:
        self.settings, self.data, self.held_out = settings, data, held_out
        purposes = ("network", "split", "compare", "starts", "warm start", "engine")
        self.keys = dict(zip(purposes, jax.random.split(key, len(purposes)), strict=True))
        *self.steps, self.out_size = data.target.shape[1:]
        self.parts = settings.head(0.0).parts
        self.recipe = settings.recipe()
        self.start, self.skeleton = self._networks(self.keys["network"][None])
        self.probe_x = data.x[probe_rows(data)]
        check_engine(settings.engine, _first(self.start), self.skeleton, self.probe_x)
        extra = None if held_out is None else len(data.x) + np.arange(len(held_out.x))
        self.split: Split = split_rows(
            np.random.default_rng(np.asarray(jax.random.key_data(self.keys["split"]))),
            len(data.x),
            0,
            settings.validation_fraction,
            extra,
        )

    def compare(self, stage: Stage) -> tuple[Trial, ...]:
        """Train one network with each learning rate and β; all are one fleet from one start."""
        grid = self._grid()
        if len(grid) == 1:
            return ()
        starts = jax.tree.map(lambda leaf: jnp.repeat(leaf, len(grid), axis=0), self.start)
        trained = self._train(self.keys["compare"], starts, grid, stage.within("Comparison"))
        return tuple(
            Trial(*one, float(value), int(epoch))
            for one, value, epoch in zip(grid, trained.best_value, trained.best_epoch, strict=True)
        )

    def finish(self, trials: tuple[Trial, ...], stage: Stage) -> Fitted:
        """Find warm starts with the best settings, and let the engine explore from there."""
        settings = self.settings
        rate, beta = self._grid()[0]
        if trials:
            rate, beta, *_ = min(trials, key=lambda trial: trial.validation_nll)
        engine: Any = settings.engine
        # Rates are compared by how they train a network; an ELBO wants one of its own (paper: 0.01).
        trains_networks = hasattr(engine, "training") and not isinstance(engine, BayesByBackprop)
        if settings.learning_rates and trains_networks:
            engine = replace(engine, training=replace(engine.training, learning_rate=rate))
        head = settings.head(beta)
        constant = np.zeros(self.out_size, np.float32)
        unknown = settings.loss == "mse" and settings.constant_variance is None
        count = max(num_starts(engine), int(unknown))
        starts = None
        if count:
            fresh, _ = self._networks(jax.random.split(self.keys["starts"], count))
            alike = [(rate, beta)] * count
            starts = self._train(
                self.keys["warm start"], fresh, alike, stage.within("Warm start")
            ).params
        if unknown:
            constant = self._held_out_noise(_first(starts))
        elif settings.constant_variance is not None:
            constant = np.asarray(settings.constant_variance, np.float32)
        problem = Problem(
            objective=Objective(
                HeadObjective(self.skeleton, head),
                IsotropicPrior(np.float32(settings.prior_precision)),
            ),
            data=_noisier(self.data, constant),
            initialise=lambda keys: self._networks(keys)[0],
            starts=starts,
            validation_rows=self.split.set_aside,
            skeleton=self.skeleton,
            monitor=NegativeLogLikelihood(HeadDensity(self.skeleton, head)),
            held_out=None if self.held_out is None else _noisier(self.held_out, constant),
        )
        posterior = engine.run(self.keys["engine"], problem, stage.within("Inference"))
        means = np.split(evaluate_draws(*_as_parts(posterior, head), self.probe_x), 3, axis=-1)[0]
        means = mask_padding(means, self.data.weight[probe_rows(self.data)])
        return Fitted(
            posterior=posterior,
            head=head,
            constant_variance=constant,
            probe=means.reshape(posterior.trace.shape[0], -1, *means.shape[1:]),
            probe_x=self.probe_x,
            learning_rate=rate,
            beta=beta,
            trials=trials,
        )

    def _grid(self) -> Grid:
        """Return every learning rate with every β."""
        settings = self.settings
        rates = settings.learning_rates or (settings.training.learning_rate,)
        return list(product(rates, settings.betas if settings.loss == "beta_nll" else (0.0,)))

    def _train(
        self, key: Key, starts: Params, grid: list[tuple[float, float]], stage: Stage
    ) -> Trained:
        """Train a fleet, one run per (learning rate, β), to the best epoch on the watched rows."""
        settings, num_runs = self.settings, len(grid)
        rates, betas = np.asarray(grid, np.float32).T
        data = self.data
        if settings.loss == "mse":
            # Only ratios of variances matter for the mean; constant noise counts as one.
            variance = data.variance + np.float32(1)
            data = data._replace(variance=variance / np.average(variance, weights=data.weight))
        if self.held_out is not None:
            watched = self.held_out._replace(variance=self.held_out.variance + (settings.loss == "mse"))
            data = jax.tree.map(lambda *leaves: np.concatenate(leaves), data, watched)
        head = settings.head(0.0)
        weight = data.weight[self.split.train_rows[0]]
        decay = IsotropicPrior.decay(settings.weight_decay, weight, of_squares=settings.loss == "mse")
        objective = Objective(HeadObjective(self.skeleton, head), decay)
        own = None
        if isinstance(head, MeanVariance):
            nothing = jax.tree.map(lambda _: None, objective)
            own = eqx.tree_at(
                lambda tree: tree.log_likelihood.head.beta, nothing, betas, is_leaf=lambda x: x is None
            )
        return train(
            key,
            objective,
            starts,
            data,
            pad_rows(self.split.train_rows * num_runs),
            settings.training,
            watch_rows=pad_rows(self.split.watch_rows * num_runs),
            monitor=NegativeLogLikelihood(HeadDensity(self.skeleton, head)),
            learning_rate=rates,
            own=own,
            stage=stage,
        )

    def _held_out_noise(self, params: Params) -> np.ndarray:
        """Return the mean squared residual per output on rows that were not trained on.

        An output that none of them observes has to do with all rows.
        """
        unseen = self.held_out
        if unseen is None:
            rows = self.split.watch_rows[0]
            unseen = jax.tree.map(lambda leaf: leaf[rows], self.data)
        axes = tuple(range(unseen.target.ndim - 1))

        def mean_square(here: Dataset) -> np.ndarray:
            squared = (evaluate(self.skeleton, params, here.x) - here.target) ** 2 - here.variance
            return (here.weight * squared).sum(axes) / np.maximum(here.weight.sum(axes), 1e-12)

        observed = unseen.weight.any(axes)
        mean = mean_square(unseen)
        if not observed.all():
            mean = np.where(observed, mean, mean_square(self.data))
        return np.maximum(mean, 1e-6).astype(np.float32)

    def _networks(self, keys: Key) -> tuple[Params, Any]:
        return build_networks(
            self.recipe,
            self.data.x.shape[1:],
            self.parts * self.out_size,
            keys,
            steps=tuple(self.steps),
        )


def _noisier(data: Dataset, constant: np.ndarray) -> Dataset:
    return data._replace(variance=data.variance + constant)


def _first(stacked: Params) -> Params:
    return jax.tree.map(lambda leaf: leaf[0], stacked)
