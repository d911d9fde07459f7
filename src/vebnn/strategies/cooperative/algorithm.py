"""Algorithm 1: mean network, then rounds of variance network and Bayesian network."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from vebnn.core.types import Key
from vebnn.inference import Engine, Posterior
from vebnn.inference.evaluation import evaluate_draws, moments, pool_chains
from vebnn.likelihoods.heads import Parts
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS, VarianceLoss
from vebnn.networks import Network
from vebnn.prediction import Components
from vebnn.strategies.contract import ARRAY, Fitted, Rows, Saved, Shapes, Strategy
from vebnn.strategies.cooperative.dependence import INDEPENDENT, Dependence, NoiseWithin
from vebnn.strategies.cooperative.learned_noise import LearnedNoise
from vebnn.strategies.cooperative.noise import Noise
from vebnn.strategies.cooperative.plan import rest_of_fit, whole_fit
from vebnn.strategies.cooperative.rounds import Round, choose_round
from vebnn.strategies.cooperative.steps import Result, Steps, point_posterior
from vebnn.strategies.fit_data import first
from vebnn.training import Stage, Trained, Training
from vebnn.training.batches import MANY


@dataclass(frozen=True, eq=False)
class FittedCooperative(Fitted):
    """The networks of all three steps."""

    mean: Network  # Step 1
    noise: Noise  # Step 2 of the chosen round
    rounds: tuple[Round, ...]  # scores of all rounds
    chosen_round: int
    mean_history: np.ndarray  # (epochs, 2): training and validation loss of Step 1
    dependence: Dependence  # of the noise within sequences or groups

    published: ClassVar[tuple[str, ...]] = (
        "rounds",
        "chosen_round",
        "degrees_of_freedom",
        "noise_correlation",
        "noise_autocorrelation",
        "effective_share",
    )

    @property
    def degrees_of_freedom(self) -> np.ndarray | None:
        """Those of Student-t noise."""
        return self.noise.freedom

    @property
    def noise_correlation(self) -> np.ndarray | None:
        """That of the outputs' noise."""
        return self.noise.correlation

    @property
    def noise_autocorrelation(self) -> np.ndarray | None:
        """That of the noise along a sequence."""
        along = self.dependence.autocorrelation
        return None if along is None else np.asarray(along)

    @property
    def effective_share(self) -> float:
        """What a target counts in Step 3: their effective number over their number."""
        return self.dependence.share

    def parts(self, x: np.ndarray) -> Parts:
        """Return mean, aleatoric and epistemic variance (eq. 11)."""
        mean, epistemic = moments(pool_chains(self.posterior.draws), x)
        return Parts(mean, self.noise.variance(x), epistemic)

    def components(self, x: np.ndarray) -> Components:
        """Return one Gaussian per draw, or one Student-t of this variance."""
        means = evaluate_draws(pool_chains(self.posterior.draws), x)
        return Components.of_draws(means, self.noise.variance(x)[None])

    def pieces(self) -> dict[str, Any]:
        """Return the networks of Steps 1 and 2."""
        return {"mean": self.mean, "noise": self.noise, "history": self.mean_history}

    def describe(self) -> dict[str, Any]:
        """Return the scores of the rounds, and how noise goes together."""
        return {
            "rounds": [one._asdict() for one in self.rounds],
            "chosen_round": self.chosen_round,
            "dependence": self.dependence._asdict(),
        }


@dataclass(frozen=True)
class Cooperative(Strategy):
    """Settings of Algorithm 1: the arguments of :class:`~vebnn.VeBNNRegressor`, none left open."""

    network: Any
    variance_network: Any
    engine: Engine
    pilot: Engine | None  # of rounds before the last; None: the engine itself
    variance_engine: Engine | None  # None: the variance network is trained, not sampled
    variance_warm_up: Training | None  # of the networks its chains start from; None: they are fresh
    rounds: int | None  # None: until the noise settles
    iterate: Literal["posterior", "mean"]
    choose_round: Literal["marginal_likelihood", "validation", "last"]
    residuals: Literal["in_sample", "cross_fit", "posterior"]
    num_folds: int
    rescale_residuals: bool
    variance_loss: VarianceLoss
    heavy_tails: bool
    noise_covariance: Literal["diagonal", "full"]
    noise_within: NoiseWithin | None  # None: correlated for sequences
    mean_training: Training
    learning_rates: tuple[float, ...]
    variance_training: Training
    weight_decay: float
    prior_precision: float
    validation_fraction: float
    refit: bool
    most_continuations: int  # of chains that disagree, if there is no time budget
    time_budget: float | None  # seconds

    def fit(self, key: Key, rows: Rows, stage: Stage) -> FittedCooperative:
        """Run Algorithm 1."""
        steps = Steps(self, key, rows, stage)
        stage.expect(whole_fit(self, steps.rows))
        means = steps.step_1(noise_variance=None, attempt=0)
        network, history = first(means.params), means.history[0]

        def step_1() -> FittedCooperative:
            found = point_posterior(means), steps.constant_noise(means)
            return self._so_far(steps, network, history, *found)

        stage.finish("Step 1", step_1)
        return self._rounds(steps, network, history, means)

    @property
    def goes_on(self) -> bool:
        """Whether :meth:`update` has chains to continue, with the residuals of their draws."""
        gaussian = not self.heavy_tails and self.noise_covariance != "full"
        return gaussian and self.residuals == "posterior" and self.iterate == "posterior"

    def update(
        self, key: Key, rows: Rows, stage: Stage, before: FittedCooperative
    ) -> FittedCooperative:
        """Go on from an earlier fit with more rows, in the same units.

        There is no Step 1. The chains of Step 3 first settle on all rows with the noise of the earlier
        fit, because residuals of rows that they have not seen are too large. Rounds of Steps 2 and 3
        follow, whose chains start where those of the earlier fit have ended.
        """
        steps = Steps(self, key, rows, stage)
        learned = steps.resume(before.posterior.draws, before.noise, before.dependence)
        earlier = steps.step_3(0, learned, None, before.posterior, last=False)
        return self._rounds(steps, before.mean, before.mean_history, None, earlier, learned)

    def _rounds(
        self,
        steps: Steps,
        network: Network,
        history: np.ndarray,
        means: Trained | None,
        earlier: Posterior | None = None,
        learned: LearnedNoise | None = None,
    ) -> FittedCooperative:
        """Repeat Steps 2 and 3 until the last round; return the chosen one.

        Args:
          network: the mean network of Step 1, and ``history`` its losses.
          means: all networks of Step 1; none if chains continue.
          earlier: the chains that are continued, and ``learned`` the noise they had.
        """
        results: list[Result] = []
        reports: list[Round] = []
        last, number = False, 0
        while not last:
            number, before = number + 1, learned
            # Step 2: mean fixed.
            learned = steps.step_2(number, means, earlier)
            known: Any = point_posterior(means) if earlier is None and means is not None else earlier
            so_far = partial(self._so_far, steps, network, history, known, learned.noise)
            steps.stage.finish(f"Round {number} · Step 2", so_far)
            # Round 1 learned from fold networks, round 2 from draws: noise that agrees has not settled.
            # Of a large table, both kinds of residuals are right.
            alike = means is None or number > 2 or len(steps.rows.data.x) > MANY
            last = steps.is_last(number, before if alike else None, learned)
            steps.stage.expect(rest_of_fit(self, steps.rows, number, last=last))
            if last or self.iterate == "posterior":
                # Step 3: Bayesian network, noise fixed.
                earlier = steps.step_3(number, learned, means, earlier, last=last)
                so_far = partial(self._so_far, steps, network, history, earlier, learned.noise)
                steps.stage.finish(f"Round {number} · Step 3", so_far)
                results.append(steps.score(number, learned, earlier))
                reports.append(results[-1].report)
            elif means is not None:
                reports.append(steps.score(number, learned, point_posterior(means)).report)
            if not last and (self.iterate == "mean" or self.residuals == "cross_fit"):
                # The noise just learned reweights the rows of the next mean (appendix on bias).
                means = steps.step_1(learned.variance, attempt=number)
        chosen = results[choose_round([one.report for one in results], self.choose_round)]
        return FittedCooperative(
            posterior=chosen.posterior,
            probe=chosen.probe,
            probe_x=steps.rows.probes.x,
            mean=network,
            noise=chosen.noise,
            rounds=tuple(reports),
            chosen_round=chosen.report.number,
            mean_history=history,
            dependence=steps.dependence,
        )

    def _so_far(
        self, steps: Steps, network: Network, history: np.ndarray, posterior: Posterior, noise: Noise
    ) -> FittedCooperative:
        """Return the fit as if it ended after a step, for observers; it has no scores."""
        probe_x = steps.rows.probes.x
        probe = evaluate_draws(pool_chains(posterior.draws), probe_x)
        return FittedCooperative(
            posterior=posterior,
            probe=steps.rows.probe_of(posterior, probe),
            probe_x=probe_x,
            mean=network,
            noise=noise,
            rounds=(),
            chosen_round=0,
            mean_history=history,
            dependence=steps.dependence,
        )

    def revive(self, shapes: Shapes, saved: Saved) -> FittedCooperative:
        """Return a fitted strategy from saved arrays and JSON."""
        mean = shapes.like(self.network, 1)
        variance = shapes.like(self.variance_network, VARIANCE_HEADS[self.variance_loss].parts)
        full = self.noise_covariance == "full"
        noise = Noise.like(variance, self.variance_loss, heavy_tails=self.heavy_tails, correlated=full)
        older = INDEPENDENT._asdict()  # models of before 0.3 do not say
        return FittedCooperative(
            **saved.common(self.engine, mean),
            mean=saved.fill("mean", mean),
            noise=saved.fill("noise", noise),
            rounds=tuple(Round(**one) for one in saved.description["rounds"]),
            chosen_round=saved.description["chosen_round"],
            mean_history=saved.fill("history", ARRAY),
            dependence=Dependence(**saved.description.get("dependence", older)),
        )
