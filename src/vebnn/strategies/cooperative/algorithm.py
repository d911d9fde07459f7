"""Algorithm 1: mean network, then rounds of variance network and Bayesian network."""

from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np

from vebnn.core.types import Dataset, Key, Params
from vebnn.inference import Posterior, Problem
from vebnn.inference.evaluation import (
    evaluate,
    evaluate_draws,
    mask_padding,
    moments,
    pool_chains,
    probe_rows,
)
from vebnn.inference.problem import check_engine
from vebnn.likelihoods.log_likelihoods import GaussianNoiseGiven, IsotropicPrior
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS
from vebnn.networks.adapters import build_networks
from vebnn.strategies.cooperative.mean import OutOfFold, best_learning_rate, out_of_fold, train_means
from vebnn.strategies.cooperative.scores import held_out_nll, leave_one_out_nll
from vebnn.strategies.cooperative.settings import Cooperative
from vebnn.strategies.cooperative.variance import (
    Noise,
    Residuals,
    aleatoric_variance,
    log_marginal_likelihood,
    train_variance,
)
from vebnn.training import Objective, Split, Stage, Trained, split_rows

# Single rows that can tell when the variance network should stop. A few dozen cannot: with them it is
# better trained to the end.
ENOUGH_TO_STOP = 201


class Round(NamedTuple):
    """How one round went."""

    number: int
    log_marginal_likelihood: float  # LMglk per observation, on the training rows
    validation_nll: float  # per observation, in standardised units
    validation_kind: str  # "held out" rows, or "leave one out" from the draws
    typical_noise_std: float  # root mean aleatoric variance, in standardised units
    variance_epochs: int


class Result(NamedTuple):
    """What one round leaves behind."""

    noise: Noise
    posterior: Posterior
    report: Round
    probe: np.ndarray  # (chains, draws, some rows, ..., outputs): the draws as functions


class Fitted(NamedTuple):
    """What Algorithm 1 leaves behind, in standardised units."""

    mean_params: Params  # Step 1
    noise: Noise  # Step 2 of the chosen round
    posterior: Posterior  # Step 3 of the chosen round
    # The draws as functions, (chains, draws, some training rows, ..., outputs); NaN in padding.
    probe: np.ndarray
    probe_x: np.ndarray  # the inputs of these rows
    rounds: tuple[Round, ...]
    chosen_round: int
    mean_history: np.ndarray
    skeleton: Any  # the mean network without weights; the posterior has one of its own
    variance_skeleton: Any
    variance_head: Any  # what the outputs of the variance network mean


def fit_cooperative(
    key: Key,
    settings: Cooperative,
    data: Dataset,
    *,
    held_out: Dataset | None = None,
    stage: Stage,
) -> Fitted:
    """Run Algorithm 1.

    Args:
      key: random key; the same key gives the same result on the same machine.
      settings: see :class:`Cooperative`.
      data: standardised rows; ``variance`` is known measurement variance beside the noise to learn.
      held_out: rows for early stopping and validation NLL, never trained on.
      stage: name and watcher of the work.
    """
    learner = _Learner(key, settings, data, held_out, stage)
    first_means = means = learner.step_1(noise_variance=None, attempt=0)
    results: list[Result] = []
    reports: list[Round] = []
    earlier: Posterior | None = None
    for number in range(1, settings.rounds + 1):
        last = number == settings.rounds
        # Step 2: fresh variance network, mean fixed.
        noise = learner.step_2(number, means, earlier)
        noise_variance = aleatoric_variance(learner.variance_skeleton, learner.head, noise, data.x)
        if last or settings.iterate == "posterior":
            # Step 3: Bayesian network, noise fixed.
            earlier = learner.step_3(number, noise, noise_variance, means, earlier)
            results.append(learner.score(number, noise, noise_variance, earlier))
            reports.append(results[-1].report)
        else:
            point = _point_posterior(means, learner.skeleton)
            reports.append(learner.score(number, noise, noise_variance, point).report)
        if not last and (settings.iterate == "mean" or settings.residuals == "cross_fit"):
            # The noise just learned reweights the rows of the next mean (paper, appendix on bias).
            means = learner.step_1(noise_variance, attempt=number)
    chosen = results[_choose([result.report for result in results], settings.choose_round)]
    return Fitted(
        mean_params=_first(first_means.params),
        noise=chosen.noise,
        posterior=chosen.posterior,
        probe=chosen.probe,
        probe_x=data.x[learner.probe_rows],
        rounds=tuple(reports),
        chosen_round=chosen.report.number,
        mean_history=first_means.history[0],
        skeleton=learner.skeleton,
        variance_skeleton=learner.variance_skeleton,
        variance_head=learner.head,
    )


class _Learner:
    """The three steps, with what they share."""

    def __init__(
        self, key: Key, settings: Cooperative, data: Dataset, held_out: Dataset | None, stage: Stage
    ) -> None:
        self.key, self.settings, self.data, self.held_out = key, settings, data, held_out
        self.stage = stage
        self.head = VARIANCE_HEADS[settings.variance_loss]
        self.in_shape = data.x.shape[1:]
        *self.steps, self.out_size = data.target.shape[1:]
        self.num_folds = settings.num_folds if settings.residuals != "in_sample" else 0
        self.num_folds = min(self.num_folds, len(data.x)) if len(data.x) > 1 else 0
        self.starts, self.skeleton = self._networks(
            settings.network,
            self.out_size,
            jax.random.split(self._key("networks"), self.num_folds + 1),
        )
        self.probe_rows = probe_rows(data)
        check_engine(settings.engine, _first(self.starts), self.skeleton, data.x[self.probe_rows])
        # Rows the user holds out are appended: Step 1 may watch them, nobody trains on them.
        extra = None if held_out is None else len(data.x) + np.arange(len(held_out.x))
        self.split: Split = split_rows(
            np.random.default_rng(np.asarray(jax.random.key_data(self._key("split")))),
            len(data.x),
            self.num_folds,
            settings.validation_fraction,
            extra,
        )

    def step_1(self, noise_variance: np.ndarray | None, attempt: int) -> Trained:
        """Train the mean network and the fold networks; constant noise unless one is given."""
        variance = self.data.variance + (1 if noise_variance is None else noise_variance)
        # Only ratios of variances matter for the mean; their size would change the weight decay.
        data = self.data._replace(variance=variance / np.average(variance, weights=self.data.weight))
        if self.held_out is not None:
            watched = self.held_out._replace(variance=np.ones_like(self.held_out.target))
            data = jax.tree.map(lambda *leaves: np.concatenate(leaves), data, watched)
        name = "Step 1" if attempt == 0 else f"Round {attempt + 1} · Step 1"
        stage, settings = self.stage.within(name), self.settings
        key_rate, key_train = jax.random.split(self._key("step 1", attempt))
        given = (self.skeleton, self.starts, data, self.split)
        training = settings.mean_training
        if settings.learning_rates:
            rate = best_learning_rate(
                key_rate,
                *given,
                training,
                settings.learning_rates,
                weight_decay=settings.weight_decay,
                stage=stage.within("learning rates"),
            )
            training = replace(training, learning_rate=rate)
        return train_means(
            key_train,
            *given,
            training,
            weight_decay=settings.weight_decay,
            refit=settings.refit and self.held_out is None,
            stage=stage,
        )

    def step_2(self, number: int, means: Trained, earlier: Posterior | None) -> Noise:
        """Train a fresh variance network on the squared residuals of the current mean."""
        start, self.variance_skeleton = self._networks(
            self.settings.variance_network,
            self.head.parts * self.out_size,
            jax.random.split(self._key("variance network", number), 1),
        )
        settings, watched = self.settings.variance_training, None
        # Residuals along a sequence are alike, and always learned by heart in the end.
        stopped = self.num_folds > 1 and (self.steps or len(self.data.x) >= ENOUGH_TO_STOP)
        if self.settings.residuals == "in_sample":
            # As in the paper's code: round 1 trains to the last epoch, later rounds watch LMglk.
            if earlier is None:
                settings = replace(settings, patience=None)
            else:
                outputs = evaluate_draws(earlier.skeleton, pool_chains(earlier.draws), self.data.x)
                watched = (outputs, self.data)
        return train_variance(
            self._key("step 2", number),
            self.variance_skeleton,
            self.head,
            start,
            self.data,
            self._residuals(means, earlier),
            settings,
            rescale=self.settings.rescale_residuals,
            posterior=watched,
            fold=self.split.fold if stopped else None,
            stage=self.stage.within(f"Round {number} · Step 2"),
        )

    def step_3(
        self,
        number: int,
        noise: Noise,
        noise_variance: np.ndarray,
        means: Trained,
        earlier: Posterior | None,
    ) -> Posterior:
        """Infer the Bayesian network with the noise fixed, warm-started from Step 1 (paper).

        Where residuals are those of the posterior, chains go on from where they ended a round before:
        such noise has been learned from what they had reached.
        """
        starts = means.params
        if earlier is not None and earlier.markov and self.settings.residuals == "posterior":
            starts = jax.tree.map(lambda leaf: leaf[:, -1], earlier.draws)
        objective = Objective(
            GaussianNoiseGiven(self.skeleton),
            IsotropicPrior(np.float32(self.settings.prior_precision)),
        )
        problem = Problem(
            objective=objective,
            data=self.data._replace(variance=noise_variance + self.data.variance),
            initialise=lambda keys: self._networks(self.settings.network, self.out_size, keys)[0],
            starts=starts,
            validation_rows=self.split.set_aside,
            skeleton=self.skeleton,
            held_out=self._noisy_held_out(noise),
        )
        return self.settings.engine.run(
            self._key("step 3", number), problem, self.stage.within(f"Round {number} · Step 3")
        )

    def score(
        self, number: int, noise: Noise, noise_variance: np.ndarray, posterior: Posterior
    ) -> Result:
        """Sum up a round."""
        variance = noise_variance + self.data.variance
        draws, skeleton = pool_chains(posterior.draws), posterior.skeleton
        evidence = log_marginal_likelihood(skeleton, draws, self.data, variance)
        here = jax.tree.map(lambda leaf: leaf[self.probe_rows], self.data)
        probe = evaluate_draws(skeleton, draws, here.x)
        there = self._noisy_held_out(noise)
        if there is None:
            nll, kind = leave_one_out_nll(probe, here, variance[self.probe_rows]), "leave one out"
        else:
            nll, kind = held_out_nll(moments(skeleton, draws, there.x), there), "held out"
        report = Round(
            number=number,
            log_marginal_likelihood=float(evidence / self.data.weight.sum()),
            validation_nll=float(nll),
            validation_kind=kind,
            typical_noise_std=float(np.sqrt(np.average(noise_variance, weights=self.data.weight))),
            variance_epochs=int(noise.num_epochs),
        )
        chains = posterior.trace.shape[0]
        probe = mask_padding(probe, here.weight)
        return Result(noise, posterior, report, probe.reshape(chains, -1, *probe.shape[1:]))

    def _noisy_held_out(self, noise: Noise) -> Dataset | None:
        """Return the rows that nobody trains on, with all of their noise."""
        there = self.held_out
        if there is None:
            return None
        learned = aleatoric_variance(self.variance_skeleton, self.head, noise, there.x)
        return there._replace(variance=there.variance + learned)

    def _residuals(self, means: Trained, earlier: Posterior | None) -> Residuals:
        data = self.data
        if self.num_folds > 1 and (earlier is None or self.settings.residuals == "cross_fit"):
            folds = jax.tree.map(lambda leaf: leaf[1:], means.params)
            unseen: OutOfFold = out_of_fold(self.skeleton, folds, self.split, data.x)
            return Residuals((unseen.mean - data.target) ** 2, unseen.variance + data.variance)
        if earlier is None:
            mean = evaluate(self.skeleton, _first(means.params), data.x)
        else:
            mean = moments(earlier.skeleton, pool_chains(earlier.draws), data.x).mean
        return Residuals((mean - data.target) ** 2, data.variance)

    def _networks(self, recipe: Any, out_size: int, keys: Key) -> tuple[Params, Any]:
        return build_networks(recipe, self.in_shape, out_size, keys, steps=tuple(self.steps))

    def _key(self, purpose: str, number: int = 0) -> Key:
        purposes = ("networks", "split", "step 1", "variance network", "step 2", "step 3")
        return jax.random.fold_in(self.key, number * len(purposes) + purposes.index(purpose))


def _choose(rounds: list[Round], how: str) -> int:
    if how == "last":
        return len(rounds) - 1
    if how == "validation":
        return int(np.argmin([one.validation_nll for one in rounds]))
    # Algorithm 1: arg max over i > 1; with K = 1 there is only one round.
    later = range(1, len(rounds)) if len(rounds) > 1 else range(1)
    return max(later, key=lambda index: rounds[index].log_marginal_likelihood)


def _point_posterior(means: Trained, skeleton: Any) -> Posterior:
    """Take the mean network for the whole posterior: how a round without Step 3 is judged."""
    draws = jax.tree.map(lambda leaf: leaf[:1, None], means.params)
    return Posterior(draws, means.history[:1, :, 0], False, skeleton, info={})


def _first(stacked: Params) -> Params:
    return jax.tree.map(lambda leaf: leaf[0], stacked)
