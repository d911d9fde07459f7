"""The three steps of Algorithm 1, and the score of a round."""

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from vebnn.core.types import Dataset, Key, NoisyDataset, ResidualDataset
from vebnn.inference import Engine, Posterior, Problem
from vebnn.inference.continuing import last_draws, run_until_mixed
from vebnn.inference.evaluation import evaluate_draws, moments, pool_chains
from vebnn.likelihoods.log_likelihoods import (
    CorrelatedNoiseGiven,
    GaussianNoiseGiven,
    IsotropicPrior,
)
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS
from vebnn.networks import Network
from vebnn.strategies.contract import Rows
from vebnn.strategies.cooperative.correlation import correlation_of, posterior_products
from vebnn.strategies.cooperative.dependence import (
    INDEPENDENT,
    Dependence,
    find_dependence,
    require_repeats,
)
from vebnn.strategies.cooperative.evidence import mean_log_marginal_likelihood
from vebnn.strategies.cooperative.fold_stopping import stopped_by_folds
from vebnn.strategies.cooperative.learned_noise import LearnedNoise, with_noise
from vebnn.strategies.cooperative.mean import MeanStep
from vebnn.strategies.cooperative.noise import Noise
from vebnn.strategies.cooperative.pure_error import with_pure_error
from vebnn.strategies.cooperative.residuals import (
    cross_fit_residuals,
    in_sample_residuals,
    posterior_residuals,
    unit_of,
)
from vebnn.strategies.cooperative.rounds import Round, held_out_nll, leave_one_out_nll, most_rounds
from vebnn.strategies.cooperative.sizes import require_sizes
from vebnn.strategies.cooperative.tails import Tails
from vebnn.strategies.cooperative.variance import Evidence, train_variance
from vebnn.strategies.cooperative.variance_sampling import sample_variance
from vebnn.strategies.fit_data import FitData, Keys, appended
from vebnn.training import Objective, Stage, Trained
from vebnn.training.streaming import HostRows, on_host

if TYPE_CHECKING:
    from vebnn.strategies.cooperative.algorithm import Cooperative

# Changes that end the rounds. Where a mean with edges sharpens, the noise shrinks slowly.
SETTLED = 0.01  # of the typical noise std, relative
SETTLED_CORRELATION = 0.03
PURPOSES = ("networks", "split", "step 1", "variance network", "step 2", "step 3")


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
        # The ends of the chains of Step 2 in the round before, if it has chains.
        self.variance_ends: Network | None = None
        self.noise_unit: np.ndarray | None = None
        if settings.noise_within == "correlated":
            require_repeats(self.rows)
        self.dependence = INDEPENDENT
        self.tails: Tails | None = None  # of the round before, if noise is Student-t
        budget = settings.time_budget
        self.deadline = None if budget is None else time.monotonic() + budget

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

    def constant_noise(self, means: Trained) -> Noise:
        """Return the noise that Step 1 assumes, with the size of its residuals."""
        network = self._variance_networks(jax.random.split(self.key("variance network"), 1))
        variance = unit_of(self._residuals(means, None), rescaled=True)
        return Noise.constant(network, self.settings.variance_loss, variance)

    def resume(self, draws: Network, noise: Noise, dependence: Dependence) -> LearnedNoise:
        """Return the noise of an earlier fit for the rows of this one; Step 2 goes on from there."""
        self.dependence = dependence
        require_sizes("network", self.starts, jax.tree.map(lambda leaf: leaf[0], draws))
        one = jax.random.split(self.key("variance network"), 1)
        require_sizes("variance_network", self._variance_networks(one), noise.draws)
        self.noise_unit, engine = noise.scale, self.settings.variance_engine
        if engine is not None:
            self.variance_ends = noise.ends(engine.num_starts)
        return self._learned(noise)

    def _learned(self, noise: Noise, means: Trained | None = None) -> LearnedNoise:
        average = noise.averages(self.rows.data.x)
        variance = average.variance * noise.scale
        given = with_noise(self._counted(variance, means), noise.scale / average.precision)
        return LearnedNoise(noise, variance, given, given, self._noisy_held_out(noise))

    def _counted(self, variance: np.ndarray, means: Trained | None) -> Dataset:
        """Return the training rows as Step 3 counts them: those with dependent noise count less."""
        if means is not None:
            wanted, follows = self.settings.noise_within, self.settings.engine.needs_likelihood
            self.dependence = find_dependence(
                wanted, self.rows, variance, means.params, follows=follows
            )
        return self.dependence.weigh(self.rows.data)

    def step_2(self, number: int, means: Trained | None, earlier: Posterior | None) -> LearnedNoise:
        """Learn the noise from the squared residuals of the current mean."""
        residuals, data = self._residuals(means, earlier), self.rows.data
        if self.settings.heavy_tails:
            return self._heavy_tailed_noise(number, residuals, means, earlier)
        noise = self._gaussian_noise(number, residuals, earlier)
        if self.settings.noise_covariance == "full":
            given = with_noise(data, noise.inverse_precision(data.x))
            noise = noise.with_correlation(self._correlation(given, earlier))
        return self._learned(noise, means)

    def _heavy_tailed_noise(
        self, number: int, residuals: ResidualDataset, means: Any, earlier: Posterior | None
    ) -> LearnedNoise:
        """Learn Student-t noise: the scale from weighted residuals, then its degrees of freedom."""
        data, there = self.rows.data, self.rows.held_out
        before = np.ones_like(residuals.squared) if self.tails is None else self.tails.squared_scale
        weighted = Tails.fit(residuals, before).weighted(residuals)
        gaussian = self._gaussian_noise(number, weighted, earlier)
        self.tails = tails = Tails.fit(residuals, gaussian.inverse_precision(data.x))
        noise = gaussian.with_tails(tails)
        variance, held_out = noise.variance(data.x), None
        counted = self._counted(variance, means)
        if there is not None:
            unseen = in_sample_residuals(means.params if earlier is None else earlier, there)
            scale = gaussian.inverse_precision(there.x) * tails.factor
            held_out = with_noise(there, scale / tails.of(scale).weights(unseen))
        return LearnedNoise(
            noise,
            variance,
            with_noise(counted, tails.squared_scale / tails.weights(residuals)),
            with_noise(counted, noise.inverse_precision(data.x)),
            held_out,
        )

    def _correlation(self, given: NoisyDataset, earlier: Posterior | None) -> np.ndarray:
        """Return the correlation of the outputs' noise; in the first round, there is none yet."""
        if earlier is None:
            return np.eye(given.target.shape[-1], dtype=np.float32)
        products = posterior_products(earlier, self.rows.data)
        return correlation_of(products, given.noise_variance, given.weight)

    def _gaussian_noise(
        self, number: int, residuals: ResidualDataset, earlier: Posterior | None
    ) -> Noise:
        """Train or sample the variance network."""
        engine = self.settings.variance_engine
        if engine is None:
            return self._trained_noise(number, residuals, earlier)
        return self._sampled_noise(number, residuals, engine)

    def _trained_noise(
        self, number: int, residuals: ResidualDataset, earlier: Posterior | None
    ) -> Noise:
        """Train a fresh variance network (paper)."""
        settings, training, evidence = self.settings, self.settings.variance_training, None
        data = self.rows.data
        if settings.residuals == "in_sample":
            # As in the paper's code: round 1 trains to the last epoch, later rounds watch LMglk.
            if earlier is None:
                training = replace(training, patience=None)
            else:
                outputs = evaluate_draws(pool_chains(earlier.draws), data.x)
                evidence = Evidence(outputs, data)
        return train_variance(
            self.key("step 2", number),
            self._variance_networks(jax.random.split(self.key("variance network", number), 1)),
            settings.variance_loss,
            residuals,
            training,
            scale=unit_of(residuals, rescaled=settings.rescale_residuals),
            evidence=evidence,
            fold=self.rows.split.fold if stopped_by_folds(self.rows) else None,
            stage=self.stage.within(f"Round {number} · Step 2"),
        )

    def _sampled_noise(self, number: int, residuals: ResidualDataset, engine: Engine) -> Noise:
        """Sample the variance network; from round 2 on, chains continue."""
        settings, ends = self.settings, self.variance_ends
        if self.noise_unit is None:
            # That of round 1 serves all rounds. A unit that shrinks with the residuals would let the
            # noise of few rows shrink to nothing.
            self.noise_unit = unit_of(residuals, rescaled=settings.rescale_residuals)
        keys = jax.random.split(self.key("variance network", number), engine.num_starts)
        found = sample_variance(
            self.key("step 2", number),
            self._variance_networks,
            self._variance_networks(keys) if ends is None else ends,
            settings.variance_loss,
            residuals,
            engine,
            scale=self.noise_unit,
            warm_up=settings.variance_warm_up if ends is None else None,
            stage=self.stage.within(f"Round {number} · Step 2"),
        )
        self.variance_ends = last_draws(found.posterior) if found.posterior.markov else None
        return found.noise

    def _variance_networks(self, keys: Key) -> Network:
        """Return fresh variance networks, one per key, stacked."""
        parts = VARIANCE_HEADS[self.settings.variance_loss].parts
        return self.rows.shapes.build(self.settings.variance_network, parts, keys)

    def is_last(self, number: int, before: LearnedNoise | None, learned: LearnedNoise) -> bool:
        """Tell whether a round is the last: by its number or, if that is open, by its noise."""
        if self.settings.rounds is not None:
            return number == self.settings.rounds
        if before is None:
            return False
        settled = abs(np.log(learned.typical_std / before.typical_std)) < SETTLED
        if learned.noise.correlation is not None and before.noise.correlation is not None:
            moved = np.abs(learned.noise.correlation - before.noise.correlation).max()
            settled &= moved < SETTLED_CORRELATION
        return bool(number >= most_rounds(len(self.rows.data.x)) or settled)

    def step_3(
        self,
        number: int,
        learned: LearnedNoise,
        means: Trained | None,
        earlier: Posterior | None,
        *,
        last: bool,
    ) -> Posterior:
        """Infer the Bayesian network with the noise fixed, warm-started from Step 1 (paper).

        With residuals of the posterior, chains continue from their end in the round before: the
        noise was learned from that state. Before the last round, the pilot engine is enough.
        """
        settings, engine = self.settings, self.settings.engine
        starts: Any = None if means is None else means.params
        if settings.residuals == "posterior":
            engine = engine if last or settings.pilot is None else settings.pilot
            if earlier is not None and earlier.markov:
                starts = last_draws(earlier)
                # Without networks of Step 1, chains go on from an earlier fit.
                engine = engine.resumed() if means is None and last else engine
        prior, correlation = (
            IsotropicPrior(np.float32(settings.prior_precision)),
            learned.noise.correlation,
        )
        likelihood = (
            GaussianNoiseGiven() if correlation is None else CorrelatedNoiseGiven.of(correlation)
        )
        problem = Problem(
            objective=Objective(likelihood, prior),
            data=learned.data,
            initialise=lambda keys: self.rows.shapes.build(settings.network, 1, keys),
            starts=starts,
            validation_rows=self.rows.split.set_aside,
            held_out=learned.held_out,
        )
        stage = self.stage.within(f"Round {number} · Step 3" if number else "Settling · Step 3")
        return run_until_mixed(
            self.key("step 3", number),
            engine,
            problem,
            stage,
            self.rows.probes.x,
            most_continuations=settings.most_continuations if last else 0,
            deadline=self.deadline if last else None,
        )

    def score(self, number: int, learned: LearnedNoise, posterior: Posterior) -> Result:
        """Score a round on rows it has not seen."""
        noise, data, freedom = learned.noise, learned.unweighted, learned.noise.freedom
        draws, there = pool_chains(posterior.draws), self._noisy_held_out(noise)
        here = on_host(data, self.rows.probe_rows)
        outputs = evaluate_draws(draws, here.x)
        if there is None:
            nll, kind = leave_one_out_nll(outputs, here, freedom), "leave one out"
        else:
            nll, kind = held_out_nll(moments(draws, there.x), there, freedom), "held out"
        report = Round(
            number=number,
            log_marginal_likelihood=mean_log_marginal_likelihood(draws, data, freedom),
            validation_nll=nll,
            validation_kind=kind,
            typical_noise_std=learned.typical_std,
            variance_epochs=int(noise.num_epochs),
        )
        return Result(noise, posterior, report, self.rows.probe_of(posterior, outputs))

    def _noisy_held_out(self, noise: Noise) -> NoisyDataset | None:
        there = self.rows.held_out
        return None if there is None else with_noise(there, noise.variance(there.x))

    def _residuals(self, means: Trained | None, earlier: Posterior | None) -> ResidualDataset:
        """Return squared residuals, of networks that were not trained on a row if possible."""
        data, kind = self.rows.data, self.settings.residuals
        if means is not None and self.rows.num_folds > 1 and (earlier is None or kind == "cross_fit"):
            folds = jax.tree.map(lambda leaf: leaf[1:], means.params)
            found = cross_fit_residuals(folds, self.rows.split, data)
        elif earlier is not None and kind == "posterior":
            found = posterior_residuals(earlier, data, self.dependence.share)
        else:
            mean: Any = means.params if means is not None and earlier is None else earlier
            found = in_sample_residuals(mean, data)
        # An average of repeats is no match for a gross error among them; and so many rows that they
        # stay with the host show the mean without repeats.
        few = not isinstance(data.x, HostRows)
        pure = kind == "posterior" and few and not self.settings.heavy_tails
        return with_pure_error(found, data) if pure else found


def point_posterior(means: Trained) -> Posterior:
    """Take the mean network for the whole posterior, to score a round without Step 3."""
    draws = jax.tree.map(lambda leaf: leaf[:1, None], means.params)
    return Posterior(draws, means.history[:1, :, 0], False, info={})
