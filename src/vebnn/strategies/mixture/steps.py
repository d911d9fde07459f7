"""The three steps of VeBNN for noise with several modes, and what they share."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vebnn.core.types import Dataset, Key, LogLikelihood, Params
from vebnn.inference import Engine, Posterior, Problem
from vebnn.inference.evaluation import evaluate, evaluate_draws, moments, probe_rows
from vebnn.inference.problem import check_engine
from vebnn.likelihoods import mixture as likelihood
from vebnn.likelihoods.log_likelihoods import (
    IsotropicPrior,
    MixtureNoiseGiven,
    MixtureNoiseLearned,
    ModesAndNoise,
)
from vebnn.likelihoods.mixture import Mixture, by_mode, flat
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS
from vebnn.networks.adapters import build_networks
from vebnn.strategies.cooperative.variance import Noise, Residuals, aleatoric_variance, train_variance
from vebnn.strategies.mixture.modes import WholePosterior, match_labels, relabelled, split_whole
from vebnn.training import Objective, Split, Stage, Trained, Training, pad_rows, split_rows, train

HEAD = VARIANCE_HEADS["gamma"]
# What a row counts for a mode it does not belong to: a mode without any row keeps a finite noise.
FAINTEST = 1e-6


@dataclass(frozen=True)
class MixtureCooperative:
    """Settings of the algorithm.

    Args:
      network: recipe of the network for means and coefficients of the modes.
      variance_network: recipe of the variance network.
      num_modes: Gaussians in the mixture of every target.
      engine: inference engine of Step 3.
      rounds: K, how often Steps 2 and 3 are repeated.
      choose_round: ``"validation"`` takes the round with the smallest validation NLL; ``"last"``.
      residuals: ``"cross_fit"``, or ``"in_sample"`` (paper).
      num_folds: number of networks for ``"cross_fit"``.
      num_starts: random starts of Step 1; the best on the watched rows is kept.
      em_steps: how often Step 2 assigns rows to modes and learns the noise of each.
      rescale_residuals: give Step 2 residuals of mean one, per output and mode.
      mean_training: Step 1's training.
      variance_training: Step 2's training.
      weight_decay: L2 factor of Step 1.
      prior_precision: κ of the Bayesian network's prior N(0, 1/κ).
      validation_fraction: share of the rows that stops Step 1 early.
    """

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


class StepOne(NamedTuple):
    """The best of the random starts of Step 1."""

    fresh: ModesAndNoise  # where it started
    trained: ModesAndNoise
    start_nll: np.ndarray
    history: np.ndarray


class Modes(NamedTuple):
    """What Step 2 is told of the training rows; all ``(rows, ..., outputs, modes)``."""

    mixture: Mixture
    offset: np.ndarray  # the part of a row's variance around its mode's mean that is not noise


class MixtureSteps:
    """The three steps, with what they share."""

    def __init__(
        self,
        key: Key,
        settings: MixtureCooperative,
        data: Dataset,
        held_out: Dataset | None,
        stage: Stage,
    ) -> None:
        self.key, self.settings, self.data, self.held_out = key, settings, data, held_out
        self.stage = stage
        *self.steps, self.out_size = data.target.shape[1:]
        self.num_folds = settings.num_folds if settings.residuals == "cross_fit" else 0
        self.num_folds = min(self.num_folds, len(data.x)) if len(data.x) > 1 else 0
        self.fresh, self.skeleton = self._networks(
            settings.network, jax.random.split(self._key("networks"), settings.num_starts)
        )
        self.probe_rows = probe_rows(data)
        check_engine(settings.engine, _one(self.fresh, 0), self.skeleton, data.x[self.probe_rows])
        # Rows the user holds out are appended: Step 1 may watch them, nobody trains on them.
        self.both, extra = data, None
        if held_out is not None:
            self.both = jax.tree.map(lambda *leaves: np.concatenate(leaves), data, held_out)
            extra = len(data.x) + np.arange(len(held_out.x))
        self.split: Split = split_rows(
            np.random.default_rng(np.asarray(jax.random.key_data(self._key("split")))),
            len(data.x),
            self.num_folds,
            settings.validation_fraction,
            extra,
        )

    def step_1(self) -> StepOne:
        """Train means, coefficients and a constant noise per mode, from several random starts."""
        num_starts = self.settings.num_starts
        dtype = jax.tree.leaves(self.fresh)[0].dtype
        log_variance = np.log(likelihood.starting_variance(self.settings.num_modes))
        noises = jnp.full((num_starts, self.out_size, self.settings.num_modes), log_variance, dtype)
        fresh = ModesAndNoise(self.fresh, noises)
        trained = self._train(
            self._key("step 1"),
            MixtureNoiseLearned(self.skeleton),
            fresh,
            self.both,
            [0] * num_starts,
            self.stage.within("Step 1"),
        )
        best = int(np.argmin(trained.best_value))
        return StepOne(
            _one(fresh, best), _one(trained.params, best), trained.best_value, trained.history[best]
        )

    def fold_networks(self, first: StepOne) -> Params | None:
        """Train the networks of the folds from where the best start was: labels mostly agree then."""
        if self.num_folds < 2:
            return None
        starts = jax.tree.map(lambda leaf: jnp.stack([leaf] * self.num_folds), first.fresh)
        trained = self._train(
            self._key("folds"),
            MixtureNoiseLearned(self.skeleton),
            starts,
            self.both,
            list(range(1, self.num_folds + 1)),
            self.stage.within("Step 1 · folds"),
        )
        return trained.params.network

    def fold_networks_again(self, number: int, folds: Params, noise: Noise) -> Params:
        """Go on with the networks of the folds, now with the noise just learned."""
        trained = self._train(
            self._key("folds", number),
            MixtureNoiseGiven(self.skeleton),
            folds,
            self._noisy(self.both, noise),
            list(range(1, self.num_folds + 1)),
            self.stage.within(f"Round {number} · folds"),
        )
        return trained.params

    def modes(self, first: StepOne, folds: Params | None, earlier: WholePosterior | None) -> Modes:
        """Return the modes at every training row, if possible from networks that did not see it."""
        x, known, num_modes = self.data.x, self.data.variance[..., None], self.settings.num_modes
        if folds is None and earlier is not None:
            outputs = moments(*earlier, x).mean
            mixture, _ = split_whole(outputs, num_modes)
            return Modes(mixture, np.broadcast_to(known, mixture.mean.shape))
        mixture = self.mixture(evaluate(self.skeleton, first.trained.network, x))
        if folds is None:
            return Modes(mixture, np.broadcast_to(known, mixture.mean.shape))
        every = self.mixture(evaluate_draws(self.skeleton, folds, x))
        order = match_labels(np.asarray(every.mean), mixture)
        mean, log_weight = (relabelled(np.asarray(part), order) for part in every)
        own = self.split.fold, np.arange(len(x))
        # The spread of the fold networks is how far such a mean can be off.
        return Modes(Mixture(mean[own], log_weight[own]), known + mean.var(axis=0, ddof=1))

    def step_2(self, number: int, modes: Modes, variance: np.ndarray) -> Noise:
        """Learn the noise of every mode by expectation-maximisation, starting from ``variance``."""
        settings, data = self.settings, self.data
        squared = flat((data.target[..., None] - np.asarray(modes.mixture.mean)) ** 2)
        residuals = Residuals(squared, flat(modes.offset))
        start, self.variance_skeleton = self._networks(
            settings.variance_network, jax.random.split(self._key("variance network", number), 1)
        )
        for repeat in range(settings.em_steps):
            # E: to which mode each row belongs, by Bayes' rule.
            share = likelihood.responsibilities(data.target, modes.mixture, variance + modes.offset)
            weight = flat(data.weight[..., None] * np.maximum(np.asarray(share), FAINTEST))
            # M: Gamma likelihood of the squared residuals of each mode, weighted by membership.
            noise = train_variance(
                jax.random.fold_in(self._key("step 2", number), repeat),
                self.variance_skeleton,
                HEAD,
                start,
                data._replace(weight=weight),
                residuals,
                settings.variance_training,
                rescale=settings.rescale_residuals,
                stage=self.stage.within(f"Round {number} · Step 2 · {repeat + 1}"),
            )
            variance = self.noise_variance(noise, data.x)
            start = jax.tree.map(lambda leaf: leaf[None], noise.params)
        return noise

    def step_3(self, number: int, noise: Noise, first: StepOne) -> Posterior:
        """Infer the Bayesian network with the noise fixed; every chain starts from Step 1's network."""
        trained = first.trained.network

        def initialise(keys: Key) -> Params:
            # Members of an ensemble must differ, but not in which mode is which.
            fresh, _ = self._networks(self.settings.network, keys)
            return jax.tree.map(lambda mine, random: mine[None] + random, trained, fresh)

        problem = Problem(
            objective=Objective(
                MixtureNoiseGiven(self.skeleton),
                IsotropicPrior(np.float32(self.settings.prior_precision)),
            ),
            data=self._noisy(self.data, noise),
            initialise=initialise,
            starts=jax.tree.map(lambda leaf: leaf[None], trained),
            validation_rows=self.split.set_aside,
            skeleton=self.skeleton,
            held_out=None if self.held_out is None else self._noisy(self.held_out, noise),
        )
        return self.settings.engine.run(
            self._key("step 3", number), problem, self.stage.within(f"Round {number} · Step 3")
        )

    def _noisy(self, data: Dataset, noise: Noise) -> Dataset:
        """Return rows with all of the noise that each of their modes has."""
        learned = self.noise_variance(noise, data.x)
        return data._replace(variance=data.variance[..., None] + learned)

    def noise_variance(self, noise: Noise, x: np.ndarray) -> np.ndarray:
        """Return the noise of every mode, ``(rows, ..., outputs, modes)``."""
        flat_variance = aleatoric_variance(self.variance_skeleton, HEAD, noise, x)
        return by_mode(flat_variance, self.settings.num_modes)

    def _train(
        self,
        key: Key,
        log_likelihood: LogLikelihood,
        starts: Params,
        data: Dataset,
        runs: list[int],
        stage: Stage,
    ) -> Trained:
        """Train a fleet to the best epoch on watched rows; ``runs`` says whose rows each one sees."""
        decay = IsotropicPrior.decay(self.settings.weight_decay, data.weight[self.split.train_rows[0]])
        return train(
            key,
            Objective(log_likelihood, decay),
            starts,
            data,
            pad_rows([self.split.train_rows[run] for run in runs]),
            self.settings.mean_training,
            watch_rows=pad_rows([self.split.watch_rows[run] for run in runs]),
            stage=stage,
        )

    def mixture(self, raw: np.ndarray) -> Mixture:
        """Return what the network's outputs mean."""
        return likelihood.from_network(raw, self.settings.num_modes)

    def _networks(self, recipe: Any, keys: Key) -> tuple[Params, Any]:
        # Both networks have two numbers for every mode of every output.
        out_size = 2 * self.settings.num_modes * self.out_size
        return build_networks(recipe, self.data.x.shape[1:], out_size, keys, steps=tuple(self.steps))

    def _key(self, purpose: str, number: int = 0) -> Key:
        purposes = ("networks", "split", "step 1", "folds", "variance network", "step 2", "step 3")
        return jax.random.fold_in(self.key, number * len(purposes) + purposes.index(purpose))


def _one(stacked: Any, index: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[index], stacked)
