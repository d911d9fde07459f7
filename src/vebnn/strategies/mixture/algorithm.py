"""The rounds of Algorithm 1 with a mixture of Gaussians for every target."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import special

from vebnn.core.types import Dataset, Key
from vebnn.inference import Engine, Posterior
from vebnn.inference.evaluation import evaluate, evaluate_draws, pool_chains
from vebnn.likelihoods import mixture as likelihood
from vebnn.likelihoods.mixture import Mixture
from vebnn.strategies.contract import ARRAY, Rows, Saved, Shapes, Strategy
from vebnn.strategies.cooperative.noise import Noise
from vebnn.strategies.cooperative.rounds import leave_one_out
from vebnn.strategies.mixture.fitted import FittedMixture, MixtureRound
from vebnn.strategies.mixture.modes import match_labels
from vebnn.strategies.mixture.steps import MixtureSteps, StepOne
from vebnn.training import Stage, Training


@dataclass(frozen=True)
class CooperativeMixture(Strategy):
    """Settings of the algorithm: the arguments of :class:`~vebnn.MixtureRegressor`, none left open."""

    network: Any
    variance_network: Any
    num_modes: int
    engine: Engine
    rounds: int
    choose_round: Literal["validation", "last"]
    residuals: Literal["cross_fit", "in_sample"]
    num_folds: int
    num_starts: int
    em_steps: int
    rescale_residuals: bool
    mean_training: Training
    variance_training: Training
    weight_decay: float
    prior_precision: float
    validation_fraction: float

    def fit(self, key: Key, rows: Rows, stage: Stage) -> FittedMixture:
        """Run the algorithm."""
        steps = MixtureSteps(self, key, rows, stage)
        stage.expect(steps.plan())
        first = steps.step_1()
        folds = steps.fold_networks(first)
        variance = np.asarray(first.trained.variance)
        results: list[FittedMixture] = []
        for number in range(1, self.rounds + 1):
            if number > 1 and folds is not None:
                folds = steps.fold_networks_again(number, folds, results[-1].noise)
            modes = steps.modes(first, folds, results[-1].whole() if results else None)
            # Step 2: noise of every mode; means and coefficients fixed.
            noise = steps.step_2(number, modes, variance)
            variance = steps.noise_variance(noise, rows.data.x)
            # Step 3: Bayesian network; noise fixed.
            posterior = steps.step_3(number, noise, first)
            results.append(_scored(steps, number, first, noise, posterior))
        reports = tuple(report for result in results for report in result.rounds)
        chosen = len(results) - 1
        if self.choose_round == "validation":
            chosen = int(np.argmin([report.validation_nll for report in reports]))
        return replace(results[chosen], rounds=reports)

    def revive(self, shapes: Shapes, saved: Saved) -> FittedMixture:
        """Return a fitted strategy from saved arrays and JSON."""
        network, variance_network = (
            shapes.like(recipe, 2 * self.num_modes) for recipe in (self.network, self.variance_network)
        )
        arrays = ("constant_variance", "start_nll", "order")
        return FittedMixture(
            **saved.common(self.engine, network),
            mean=saved.fill("mean", network),
            noise=saved.fill("noise", Noise.like(variance_network, "gamma")),
            rounds=tuple(MixtureRound(**one) for one in saved.description["rounds"]),
            chosen_round=saved.description["chosen_round"],
            mean_history=saved.fill("history", ARRAY),
            **{name: saved.fill(name, ARRAY) for name in arrays},
        )


def _scored(
    steps: MixtureSteps, number: int, first: StepOne, noise: Noise, posterior: Posterior
) -> FittedMixture:
    """Match the labels of a round's draws, and score it on rows it has not seen."""
    here, there = steps.rows.probes, steps.rows.held_out
    mine = evaluate_draws(pool_chains(posterior.draws), here.x)
    reference = steps.mixture(evaluate(first.trained.network, here.x))
    fitted = FittedMixture(
        posterior=posterior,
        probe=np.zeros(0),
        probe_x=here.x,
        mean=first.trained.network,
        constant_variance=np.asarray(first.trained.variance),
        start_nll=first.start_nll,
        noise=noise,
        order=match_labels(np.asarray(steps.mixture(mine).mean), reference),
        rounds=(),
        chosen_round=number,
        mean_history=first.history,
    )
    modes, variance = fitted.modes(here.x)
    means = np.sum(np.exp(modes.log_weight) * modes.mean, axis=-1)
    if there is None:
        nll, kind = leave_one_out(log_density(here, modes, variance), here.weight), "leave one out"
    else:
        by_draw = log_density(there, *fitted.modes(there.x))
        together = special.logsumexp(by_draw, axis=0) - np.log(len(by_draw))
        nll, kind = float(-np.average(together, weights=there.weight)), "held out"
    report = MixtureRound(number, nll, kind, int(noise.num_epochs))
    return replace(fitted, probe=steps.rows.probe_of(posterior, means), rounds=(report,))


def log_density(observed: Dataset, mixture: Mixture, variance: np.ndarray) -> np.ndarray:
    """Return the log-density of every target under every draw, ``(draws, rows, ..., outputs)``."""
    total = variance + observed.known_variance[..., None]
    return np.asarray(likelihood.log_prob(observed.target[None], mixture, total))
