"""Algorithm 1 for noise with several modes (paper, "Extension to multi-modal data noise").

The mean network becomes a mixture density network (Bishop 1994) with a mean and a coefficient for
every mode; the variance network learns one noise for every mode.
"""

from typing import Any, NamedTuple

import jax
import numpy as np
from scipy import special

from vebnn.core.types import Dataset, Key, Params
from vebnn.inference import Posterior
from vebnn.inference.evaluation import (
    evaluate,
    evaluate_draws,
    mask_padding,
    moments,
    pool_chains,
)
from vebnn.likelihoods import mixture as likelihood
from vebnn.likelihoods.heads import Parts
from vebnn.likelihoods.mixture import Mixture
from vebnn.strategies.cooperative.scores import leave_one_out
from vebnn.strategies.cooperative.variance import Noise
from vebnn.strategies.mixture.modes import (
    NoiseOfModes,
    WholePosterior,
    match_labels,
    split_whole,
    whole_posterior,
)
from vebnn.strategies.mixture.steps import HEAD, MixtureCooperative, MixtureSteps, StepOne
from vebnn.training import Stage


class MixtureRound(NamedTuple):
    """How one round went."""

    number: int
    validation_nll: float  # per observation, in standardised units
    validation_kind: str  # "held out" rows, or "leave one out" from the draws
    variance_epochs: int  # of the last of Step 2's trainings


class FittedMixture(NamedTuple):
    """What the algorithm leaves behind, in standardised units."""

    mean_params: Params  # Step 1
    constant_variance: np.ndarray  # (outputs, modes): Step 1's own idea of the noise
    start_nll: np.ndarray  # (starts,): validation NLL per observation of every start of Step 1
    noise: Noise  # Step 2 of the chosen round
    posterior: Posterior  # Step 3 of the chosen round
    order: np.ndarray  # (draws, outputs, modes): labels that agree between draws
    probe: np.ndarray  # (chains, draws, some training rows, ..., outputs): the mixture's mean
    probe_x: np.ndarray  # the inputs of these rows
    rounds: tuple[MixtureRound, ...]
    chosen_round: int
    mean_history: np.ndarray
    skeleton: Any
    variance_skeleton: Any

    @property
    def num_modes(self) -> int:
        """Gaussians in the mixture of every target."""
        return self.order.shape[-1]

    def whole(self) -> WholePosterior:
        """Return the draws as whole mixtures."""
        noise = NoiseOfModes.of(self.variance_skeleton, HEAD, self.noise)
        return whole_posterior(self.posterior, self.order, noise)


def fit_mixture(
    key: Key,
    settings: MixtureCooperative,
    data: Dataset,
    *,
    held_out: Dataset | None = None,
    stage: Stage,
) -> FittedMixture:
    """Run the algorithm; arguments as of :func:`vebnn.strategies.cooperative.fit_cooperative`."""
    learner = MixtureSteps(key, settings, data, held_out, stage)
    first = learner.step_1()
    folds = learner.fold_networks(first)
    variance = np.asarray(first.trained.variance)
    results: list[FittedMixture] = []
    for number in range(1, settings.rounds + 1):
        if number > 1 and folds is not None:
            folds = learner.fold_networks_again(number, folds, results[-1].noise)
        modes = learner.modes(first, folds, results[-1].whole() if results else None)
        # Step 2: noise of every mode; means and coefficients fixed.
        noise = learner.step_2(number, modes, variance)
        variance = learner.noise_variance(noise, data.x)
        # Step 3: Bayesian network; noise fixed.
        posterior = learner.step_3(number, noise, first)
        results.append(sum_up(learner, number, first, noise, posterior))
    reports = tuple(report for result in results for report in result.rounds)
    chosen = len(results) - 1
    if settings.choose_round == "validation":
        chosen = int(np.argmin([report.validation_nll for report in reports]))
    return results[chosen]._replace(rounds=reports)


def sum_up(
    learner: MixtureSteps, number: int, first: StepOne, noise: Noise, posterior: Posterior
) -> FittedMixture:
    """Agree on labels, and see how well the round predicts rows it has not seen."""
    here = jax.tree.map(lambda leaf: leaf[learner.probe_rows], learner.data)
    mine = evaluate_draws(posterior.skeleton, pool_chains(posterior.draws), here.x)
    reference = learner.mixture(evaluate(learner.skeleton, first.trained.network, here.x))
    fitted = FittedMixture(
        mean_params=first.trained.network,
        constant_variance=np.asarray(first.trained.variance),
        start_nll=first.start_nll,
        noise=noise,
        posterior=posterior,
        order=match_labels(np.asarray(learner.mixture(mine).mean), reference),
        probe=np.zeros(0),
        probe_x=here.x,
        rounds=(),
        chosen_round=number,
        mean_history=first.history,
        skeleton=learner.skeleton,
        variance_skeleton=learner.variance_skeleton,
    )
    modes, variance = predict_modes(fitted, here.x)
    means = np.sum(np.exp(modes.log_weight) * modes.mean, axis=-1)
    if learner.held_out is None:
        nll = leave_one_out(log_density(here, modes, variance), here.weight)
    else:
        there = learner.held_out
        by_draw = log_density(there, *predict_modes(fitted, there.x))
        together = special.logsumexp(by_draw, axis=0) - np.log(len(by_draw))
        nll = float(-np.average(together, weights=there.weight))
    kind = "leave one out" if learner.held_out is None else "held out"
    report = MixtureRound(number, nll, kind, int(noise.num_epochs))
    chains = posterior.trace.shape[0]
    means = mask_padding(means, here.weight)
    return fitted._replace(probe=means.reshape(chains, -1, *means.shape[1:]), rounds=(report,))


def predict_modes(fitted: FittedMixture, x: np.ndarray) -> tuple[Mixture, np.ndarray]:
    """Return every draw's mixture and its variances, ``(draws, rows, ..., outputs, modes)``."""
    outputs = evaluate_draws(*fitted.whole(), x)
    mixture, variance = split_whole(outputs, fitted.num_modes)
    return Mixture(*map(np.asarray, mixture)), np.asarray(variance)


def predict(fitted: FittedMixture, x: np.ndarray) -> Parts:
    """Return mean, aleatoric and epistemic variance (law of total variance).

    Noise is the mean over draws of the mixture's variance, within and between modes; ignorance is the
    variance over draws of the mixture's mean.
    """
    mean, spread = moments(*fitted.whole().moments(), x)
    centre, aleatoric = np.split(mean, 2, axis=-1)
    return Parts(centre, aleatoric, np.split(spread, 2, axis=-1)[0])


def log_density(observed: Dataset, mixture: Mixture, variance: np.ndarray) -> np.ndarray:
    """Return what every draw says of every target, ``(draws, rows, ..., outputs)``."""
    total = variance + observed.variance[..., None]
    return np.asarray(likelihood.log_prob(observed.target[None], mixture, total))
