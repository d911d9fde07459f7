"""A joint method: choose learning rate and β, find warm starts, run the engine.

A joint method is a head (what the outputs mean and what is minimised) and an engine. The engine gets
what it gets in Step 3 of the cooperative algorithm, except for the likelihood.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vebnn.core.types import Dataset, Key
from vebnn.inference import Engine, Problem
from vebnn.inference.evaluation import evaluate, evaluate_draws
from vebnn.likelihoods.heads import Evidential, Head, MeanOnly, MeanVariance, NaturalParameters
from vebnn.likelihoods.log_likelihoods import IsotropicPrior, MeanAndNoise
from vebnn.networks import Network
from vebnn.networks.two_networks import ConstantRest, Separate
from vebnn.strategies.contract import ARRAY, Rows, Saved, Shapes, Strategy
from vebnn.strategies.fit_data import FitData, appended, first
from vebnn.strategies.joint.fitted import FittedJoint, Trial, predicted_parts
from vebnn.training import (
    NegativeLogLikelihood,
    Objective,
    PlannedStage,
    Stage,
    Trained,
    Training,
    pad_rows,
    planned_training,
    train,
)

Loss = Literal["mse", "nll", "beta_nll", "natural", "evidential"]
Grid = list[tuple[float, float]]  # learning rate and β of every run
LOSSES: tuple[Loss, ...] = ("mse", "nll", "beta_nll", "natural", "evidential")
# These are no log-densities: a sampler that follows their gradients has no target distribution.
NOT_A_LIKELIHOOD: tuple[Loss, ...] = ("beta_nll", "evidential")
PURPOSES = ("network", "split", "compare", "starts", "warm start", "engine")


@dataclass(frozen=True)
class Joint(Strategy):
    """Settings of a joint method: the arguments of :class:`~vebnn.JointRegressor`, none left open.

    ``betas`` are the values of β to choose from, ``constant_variance`` is the given noise of
    ``loss="mse"`` per output, in standardised units.
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
        """Return the meaning of the outputs."""
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

    def grid(self) -> Grid:
        """Return every learning rate with every β."""
        rates = self.learning_rates or (self.training.learning_rate,)
        return list(product(rates, self.betas if self.loss == "beta_nll" else (0.0,)))

    def plan(self, *, refit: bool) -> list[PlannedStage]:
        """Return the stages of :meth:`fit`."""
        trials, training = len(self.grid()), self.training
        compare = planned_training("Comparison", training, trials, refit=False) if trials > 1 else []
        unknown = self.loss == "mse" and self.constant_variance is None
        count = max(self.engine.num_starts, int(unknown))
        starts = planned_training("Warm start", training, count, refit=False) if count else []
        return [*compare, *starts, *self.engine.plan("Inference", refit=refit)]

    def fit(self, key: Key, rows: Rows, stage: Stage) -> FittedJoint:
        """Choose, find warm starts, and run the engine."""
        steps = _Steps(self, key, rows)
        stage.expect(self.plan(refit=rows.held_out is None))
        trials = steps.compare(stage)
        rate, beta = self.grid()[0]
        if trials:
            rate, beta, *_ = min(trials, key=lambda trial: trial.validation_nll)
        engine = self.engine.with_learning_rate(rate) if self.learning_rates else self.engine
        unknown = self.loss == "mse" and self.constant_variance is None
        starts = steps.warm_starts(max(engine.num_starts, int(unknown)), rate, beta, stage)
        constant = np.zeros(rows.data.target.shape[-1], np.float32)
        if self.constant_variance is not None:
            constant = np.asarray(self.constant_variance, np.float32)
        elif unknown:
            assert starts is not None
            constant = steps.held_out_noise(first(starts))
        problem = steps.problem(self.head(beta), constant, starts)
        posterior = engine.run(steps.keys["engine"], problem, stage.within("Inference"))
        x = steps.rows.probes.x
        outputs = evaluate_draws(predicted_parts(posterior, self.head(beta)), x)
        return FittedJoint(
            posterior=posterior,
            probe=steps.rows.probe_of(posterior, np.split(outputs, 3, axis=-1)[0]),
            probe_x=x,
            head=self.head(beta),
            constant_variance=constant,
            learning_rate=rate,
            beta=beta,
            trials=trials,
        )

    def revive(self, shapes: Shapes, saved: Saved) -> FittedJoint:
        """Return a fitted strategy from saved arrays and JSON."""
        head = self.head(saved.description["beta"])
        return FittedJoint(
            **saved.common(self.engine, shapes.like(self.recipe(), head.parts)),
            head=head,
            constant_variance=saved.fill("constant_variance", ARRAY),
            learning_rate=saved.description["learning_rate"],
            beta=saved.description["beta"],
            trials=tuple(Trial(**one) for one in saved.description["trials"]),
        )


class _Steps:
    """The steps of a joint method, with what they share."""

    def __init__(self, settings: Joint, key: Key, rows: Rows) -> None:
        self.settings = settings
        self.keys = dict(zip(PURPOSES, jax.random.split(key, len(PURPOSES)), strict=True))
        self.rows = FitData.make(self.keys["split"], settings, rows)
        self.start = self._build(self.keys["network"][None])
        self.rows.check(settings.engine, self.start)

    def compare(self, stage: Stage) -> tuple[Trial, ...]:
        """Train one network with each learning rate and β; all are one fleet from one start."""
        grid = self.settings.grid()
        if len(grid) == 1:
            return ()
        starts = jax.tree.map(lambda leaf: jnp.repeat(leaf, len(grid), axis=0), self.start)
        trained = self._train(self.keys["compare"], starts, grid, stage.within("Comparison"))
        return tuple(
            Trial(*one, float(value), int(epoch))
            for one, value, epoch in zip(grid, trained.best_value, trained.best_epoch, strict=True)
        )

    def warm_starts(self, count: int, rate: float, beta: float, stage: Stage) -> Network | None:
        """Train so many networks, or none, with the chosen settings."""
        if not count:
            return None
        fresh = self._build(jax.random.split(self.keys["starts"], count))
        grid, stage = [(rate, beta)] * count, stage.within("Warm start")
        return self._train(self.keys["warm start"], fresh, grid, stage).params

    def problem(self, head: Head, constant: np.ndarray, starts: Network | None) -> Problem:
        """Return the posterior that the engine explores; ``constant`` is noise beside the head's."""
        held_out = self.rows.held_out
        prior = IsotropicPrior(np.float32(self.settings.prior_precision))
        return Problem(
            objective=Objective(MeanAndNoise(head), prior),
            data=_noisier(self.rows.data, constant),
            initialise=self._build,
            starts=starts,  # type: ignore[arg-type]  # None for an engine that uses none
            validation_rows=self.rows.split.set_aside,
            monitor=NegativeLogLikelihood(MeanAndNoise(head, density=True)),
            held_out=None if held_out is None else _noisier(held_out, constant),
        )

    def held_out_noise(self, network: Network) -> np.ndarray:
        """Return the mean squared residual per output on rows that were not trained on.

        For an output that is not observed on any of them, all rows are used.
        """
        unseen = self.rows.held_out
        if unseen is None:
            rows = self.rows.split.watch_rows[0]
            unseen = jax.tree.map(lambda leaf: leaf[rows], self.rows.data)
        axes = tuple(range(unseen.target.ndim - 1))

        def mean_square(here: Dataset) -> np.ndarray:
            squared = (evaluate(network, here.x) - here.target) ** 2 - here.known_variance
            return (here.weight * squared).sum(axes) / np.maximum(here.weight.sum(axes), 1e-12)

        observed = unseen.weight.any(axes)
        mean = mean_square(unseen)
        if not observed.all():
            mean = np.where(observed, mean, mean_square(self.rows.data))
        return np.maximum(mean, 1e-6).astype(np.float32)

    def _build(self, keys: Key) -> Network:
        return self.rows.shapes.build(self.settings.recipe(), self.settings.head(0.0).parts, keys)

    def _train(self, key: Key, starts: Network, grid: Grid, stage: Stage) -> Trained:
        """Train a fleet, one run per (learning rate, β), to the best epoch on validation rows."""
        settings, split = self.settings, self.rows.split
        rates, betas = np.asarray(grid, np.float32).T
        head = settings.head(0.0)
        data = self._rows_to_train(mean_only=settings.loss == "mse")
        weight = data.weight[split.train_rows[0]]
        decay = IsotropicPrior.decay(settings.weight_decay, weight, of_squares=settings.loss == "mse")
        objective = Objective(MeanAndNoise(head), decay)
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
            pad_rows(split.train_rows * len(grid)),
            settings.training,
            watch_rows=pad_rows(split.watch_rows * len(grid)),
            monitor=NegativeLogLikelihood(MeanAndNoise(head, density=True)),
            learning_rate=rates,
            own=own,
            stage=stage,
        )

    def _rows_to_train(self, *, mean_only: bool) -> Dataset:
        """Return training and held-out rows; for the mean alone, with constant noise of one."""
        data, held_out = self.rows.data, self.rows.held_out
        if mean_only:
            # Only ratios of variances matter for the mean.
            variance = data.known_variance + np.float32(1)
            data = data._replace(known_variance=variance / np.average(variance, weights=data.weight))
        if held_out is not None:
            held_out = _noisier(held_out, np.asarray(mean_only))
        return appended(data, held_out)


def _noisier(data: Dataset, constant: np.ndarray) -> Dataset:
    return data._replace(known_variance=data.known_variance + constant)
