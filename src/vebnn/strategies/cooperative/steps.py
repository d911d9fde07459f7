"""The three steps of Algorithm 1, and the score of a round."""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import jax
import numpy as np

from vebnn.core.types import Dataset, Key, NoisyDataset, ResidualDataset
from vebnn.inference import Posterior, Problem
from vebnn.inference.evaluation import evaluate_draws, moments, pool_chains
from vebnn.likelihoods.log_likelihoods import GaussianNoiseGiven, IsotropicPrior
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS
from vebnn.strategies.contract import Rows
from vebnn.strategies.cooperative.evidence import log_marginal_likelihood
from vebnn.strategies.cooperative.fold_stopping import FEWEST_ROWS
from vebnn.strategies.cooperative.mean import MeanStep
from vebnn.strategies.cooperative.residuals import cross_fit_residuals, in_sample_residuals
from vebnn.strategies.cooperative.rounds import Round, held_out_nll, leave_one_out_nll
from vebnn.strategies.cooperative.variance import Evidence, Noise, train_variance
from vebnn.strategies.fit_data import FitData, Keys, appended
from vebnn.training import Objective, Stage, Trained

if TYPE_CHECKING:
    from vebnn.strategies.cooperative.algorithm import Cooperative

PURPOSES = ("networks", "split", "step 1", "variance network", "step 2", "step 3")


class LearnedNoise(NamedTuple):
    """The variance network of a round, and the noise of the training rows."""

    noise: Noise
    variance: np.ndarray  # the aleatoric variance of each training target
    data: NoisyDataset  # training rows with this and their known variance


class Result(NamedTuple):
    """The networks and scores of one round."""

    noise: Noise
    posterior: Posterior
    report: Round
    probe: np.ndarray


class Steps:
    """The three steps, with what they share."""

    def __init__(self, settings: "Cooperative", key: Key, rows: Rows, stage: Stage) -> None:
        self.settings, self.stage, self.key = settings, stage, Keys(key, PURPOSES)
        folds = 0 if settings.residuals == "in_sample" else settings.num_folds
        self.rows = FitData.make(self.key("split"), settings, rows, folds)
        keys = jax.random.split(self.key("networks"), self.rows.num_folds + 1)
        self.starts = self.rows.shapes.build(settings.network, 1, keys)
        self.rows.check(settings.engine, self.starts)

    def step_1(self, noise_variance: np.ndarray | None, attempt: int) -> Trained:
        """Train the mean network and the fold networks; with constant noise unless one is given."""
        settings, data, held_out = self.settings, self.rows.data, self.rows.held_out
        variance = data.known_variance + (1 if noise_variance is None else noise_variance)
        # Only ratios of variances matter for the mean; their size would change the weight decay.
        variance = variance / np.average(variance, weights=data.weight)
        rows = NoisyDataset(data.x, data.target, data.weight, variance)
        if held_out is not None:
            ones = np.ones_like(held_out.target)
            rows = appended(rows, NoisyDataset(*held_out[:3], ones))
        step = MeanStep(self.starts, rows, self.rows.split, settings.weight_decay)
        stage = self.stage.within("Step 1" if attempt == 0 else f"Round {attempt + 1} · Step 1")
        key_rate, key_train = jax.random.split(self.key("step 1", attempt))
        training = settings.mean_training
        if settings.learning_rates:
            rates = stage.within("learning rates")
            rate = step.best_learning_rate(key_rate, training, settings.learning_rates, rates)
            training = replace(training, learning_rate=rate)
        return step.train(key_train, training, stage, refit=settings.refit and held_out is None)

    def step_2(self, number: int, means: Trained, earlier: Posterior | None) -> LearnedNoise:
        """Train a fresh variance network on the squared residuals of the current mean."""
        settings, training, evidence = self.settings, self.settings.variance_training, None
        shapes, data = self.rows.shapes, self.rows.data
        start = shapes.build(
            settings.variance_network,
            VARIANCE_HEADS[settings.variance_loss].parts,
            jax.random.split(self.key("variance network", number), 1),
        )
        if settings.residuals == "in_sample":
            # As in the paper's code: round 1 trains to the last epoch, later rounds watch LMglk.
            if earlier is None:
                training = replace(training, patience=None)
            else:
                outputs = evaluate_draws(pool_chains(earlier.draws), data.x)
                evidence = Evidence(outputs, data)
        stopped = self.rows.num_folds > 1 and (shapes.steps or len(data.x) >= FEWEST_ROWS)
        noise = train_variance(
            self.key("step 2", number),
            start,
            settings.variance_loss,
            self._residuals(means, earlier),
            training,
            rescaled=settings.rescale_residuals,
            evidence=evidence,
            fold=self.rows.split.fold if stopped else None,
            stage=self.stage.within(f"Round {number} · Step 2"),
        )
        variance = noise.variance(data.x)
        return LearnedNoise(noise, variance, _with_noise(data, variance))

    def step_3(
        self, number: int, learned: LearnedNoise, means: Trained, earlier: Posterior | None
    ) -> Posterior:
        """Infer the Bayesian network with the noise fixed, warm-started from Step 1 (paper).

        With residuals of the posterior, chains continue from their end in the round before: the
        noise was learned from that state.
        """
        settings, starts = self.settings, means.params
        if earlier is not None and earlier.markov and settings.residuals == "posterior":
            starts = jax.tree.map(lambda leaf: leaf[:, -1], earlier.draws)
        prior = IsotropicPrior(np.float32(settings.prior_precision))
        problem = Problem(
            objective=Objective(GaussianNoiseGiven(), prior),
            data=learned.data,
            initialise=lambda keys: self.rows.shapes.build(settings.network, 1, keys),
            starts=starts,
            validation_rows=self.rows.split.set_aside,
            held_out=self._noisy_held_out(learned.noise),
        )
        stage = self.stage.within(f"Round {number} · Step 3")
        return settings.engine.run(self.key("step 3", number), problem, stage)

    def score(self, number: int, learned: LearnedNoise, posterior: Posterior) -> Result:
        """Score a round on rows it has not seen."""
        noise, variance, data = learned
        draws, there = pool_chains(posterior.draws), self._noisy_held_out(noise)
        here = jax.tree.map(lambda leaf: leaf[self.rows.probe_rows], data)
        outputs = evaluate_draws(draws, here.x)
        if there is None:
            nll, kind = leave_one_out_nll(outputs, here), "leave one out"
        else:
            nll, kind = held_out_nll(moments(draws, there.x), there), "held out"
        report = Round(
            number=number,
            log_marginal_likelihood=float(log_marginal_likelihood(draws, data) / data.weight.sum()),
            validation_nll=nll,
            validation_kind=kind,
            typical_noise_std=float(np.sqrt(np.average(variance, weights=data.weight))),
            variance_epochs=int(noise.num_epochs),
        )
        return Result(noise, posterior, report, self.rows.probe_of(posterior, outputs))

    def _noisy_held_out(self, noise: Noise) -> NoisyDataset | None:
        there = self.rows.held_out
        return None if there is None else _with_noise(there, noise.variance(there.x))

    def _residuals(self, means: Trained, earlier: Posterior | None) -> ResidualDataset:
        """Return squared residuals, of networks that were not trained on a row if possible."""
        data = self.rows.data
        if self.rows.num_folds > 1 and (earlier is None or self.settings.residuals == "cross_fit"):
            folds = jax.tree.map(lambda leaf: leaf[1:], means.params)
            return cross_fit_residuals(folds, self.rows.split, data)
        return in_sample_residuals(means.params if earlier is None else earlier, data)


def point_posterior(means: Trained) -> Posterior:
    """Take the mean network for the whole posterior, to score a round without Step 3."""
    draws = jax.tree.map(lambda leaf: leaf[:1, None], means.params)
    return Posterior(draws, means.history[:1, :, 0], False, info={})


def _with_noise(data: Dataset, learned: np.ndarray) -> NoisyDataset:
    """Return rows with all of their noise: what was learned, and what is known."""
    return NoisyDataset(data.x, data.target, data.weight, learned + data.known_variance)
