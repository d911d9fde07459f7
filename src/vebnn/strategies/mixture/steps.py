"""The steps of the mixture algorithm, with what they share."""

from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vebnn.core.types import AnyDataset, Dataset, Key, LogLikelihood, NoisyDataset
from vebnn.inference import Posterior, Problem
from vebnn.inference.evaluation import evaluate, evaluate_draws, moments
from vebnn.likelihoods.log_likelihoods import (
    IsotropicPrior,
    MixtureNoiseGiven,
    MixtureNoiseLearned,
    ModesAndNoise,
)
from vebnn.likelihoods.mixture import Mixture, from_network, starting_variance
from vebnn.networks import Network
from vebnn.strategies.contract import Rows
from vebnn.strategies.cooperative.noise import Noise
from vebnn.strategies.fit_data import FitData, Keys, appended
from vebnn.strategies.mixture.em import RowModes, learn_noise, noise_of_modes
from vebnn.strategies.mixture.modes import WholeMixture, match_labels, relabel, split_whole
from vebnn.training import Objective, PlannedStage, Stage, Trained, pad_rows, planned_training, train

if TYPE_CHECKING:
    from vebnn.strategies.mixture.algorithm import CooperativeMixture

PURPOSES = ("networks", "split", "step 1", "folds", "variance network", "step 2", "step 3")


class StepOne(NamedTuple):
    """The best of the random starts of Step 1."""

    fresh: ModesAndNoise  # before training
    trained: ModesAndNoise
    start_nll: np.ndarray
    history: np.ndarray


class MixtureSteps:
    """The three steps, with what they share."""

    def __init__(self, settings: "CooperativeMixture", key: Key, rows: Rows, stage: Stage) -> None:
        self.settings, self.stage, self.key = settings, stage, Keys(key, PURPOSES)
        folds = settings.num_folds if settings.residuals == "cross_fit" else 0
        self.rows = FitData.make(self.key("split"), settings, rows, folds)
        keys = jax.random.split(self.key("networks"), settings.num_starts)
        self.fresh = self._build(settings.network, keys)
        self.rows.check(settings.engine, self.fresh)
        # Held-out rows are appended: Step 1 may watch them, but is not trained on them.
        self.both = appended(rows.data, rows.held_out)

    def plan(self) -> list[PlannedStage]:
        """Return the stages of the fit."""
        settings, num_folds = self.settings, self.rows.num_folds
        training = settings.mean_training
        stages = planned_training("Step 1", training, settings.num_starts, refit=False)
        if num_folds > 1:
            stages += planned_training("Step 1 · folds", training, num_folds, refit=False)
        for number in range(1, settings.rounds + 1):
            name = f"Round {number}"
            if number > 1 and num_folds > 1:
                stages += planned_training(f"{name} · folds", training, num_folds, refit=False)
            for repeat in range(1, settings.em_steps + 1):
                within = f"{name} · Step 2 · {repeat}"
                stages += planned_training(within, settings.variance_training, refit=False)
            stages += settings.engine.plan(f"{name} · Step 3", refit=self.rows.held_out is None)
        return stages

    def step_1(self) -> StepOne:
        """Train means, coefficients and a constant noise per mode, from several random starts."""
        num_starts, num_modes = self.settings.num_starts, self.settings.num_modes
        dtype = jax.tree.leaves(self.fresh)[0].dtype
        log_variance = np.log(starting_variance(num_modes))
        shape = (num_starts, self.rows.shapes.num_outputs, num_modes)
        fresh = ModesAndNoise(self.fresh, jnp.full(shape, log_variance, dtype))
        stage = self.stage.within("Step 1")
        trained = self._train(
            self.key("step 1"), MixtureNoiseLearned(), fresh, self.both, [0] * num_starts, stage
        )
        best = int(np.argmin(trained.best_value))
        chosen, learned = (
            jax.tree.map(lambda leaf: leaf[best], one) for one in (fresh, trained.params)
        )
        return StepOne(chosen, learned, trained.best_value, trained.history[best])

    def fold_networks(self, first: StepOne) -> Network | None:
        """Train the fold networks from where the best start was: labels mostly agree then."""
        if self.rows.num_folds < 2:
            return None
        starts = jax.tree.map(lambda leaf: jnp.stack([leaf] * self.rows.num_folds), first.fresh)
        stage = self.stage.within("Step 1 · folds")
        trained = self._train(
            self.key("folds"), MixtureNoiseLearned(), starts, self.both, self._folds, stage
        )
        return trained.params.network

    def fold_networks_again(self, number: int, folds: Network, noise: Noise) -> Network:
        """Continue the training of the fold networks, with the noise just learned."""
        data, stage = self._noisy(self.both, noise), self.stage.within(f"Round {number} · folds")
        likelihood = MixtureNoiseGiven()
        return self._train(
            self.key("folds", number), likelihood, folds, data, self._folds, stage
        ).params

    def modes(self, first: StepOne, folds: Network | None, earlier: WholeMixture | None) -> RowModes:
        """Return the modes at every training row, if possible from networks that did not see it."""
        data, num_modes = self.rows.data, self.settings.num_modes
        known = data.known_variance[..., None]
        if folds is None and earlier is not None:
            mixture, _ = split_whole(moments(earlier, data.x).mean, num_modes)
            return RowModes(mixture, np.broadcast_to(known, mixture.mean.shape))
        mixture = self.mixture(evaluate(first.trained.network, data.x))
        if folds is None:
            return RowModes(mixture, np.broadcast_to(known, mixture.mean.shape))
        every = self.mixture(evaluate_draws(folds, data.x))
        order = match_labels(np.asarray(every.mean), mixture)
        mean, log_weight = (relabel(np.asarray(part), order) for part in every)
        own = self.rows.split.fold, np.arange(len(data.x))
        # The variance between the fold networks is the error of such a mean.
        return RowModes(Mixture(mean[own], log_weight[own]), known + mean.var(axis=0, ddof=1))

    def step_2(self, number: int, modes: RowModes, variance: np.ndarray) -> Noise:
        """Learn the noise of every mode, starting from ``variance``."""
        keys = jax.random.split(self.key("variance network", number), 1)
        return learn_noise(
            self.key("step 2", number),
            self._build(self.settings.variance_network, keys),
            self.rows.data,
            modes,
            variance,
            self.settings,
            self.stage.within(f"Round {number} · Step 2"),
        )

    def step_3(self, number: int, noise: Noise, first: StepOne) -> Posterior:
        """Infer the Bayesian network with the noise fixed; every chain starts from Step 1's network."""
        settings, trained, held_out = self.settings, first.trained.network, self.rows.held_out

        def initialise(keys: Key) -> Network:
            # Members of an ensemble must differ, but not in the order of their modes.
            fresh = self._build(settings.network, keys)
            return jax.tree.map(lambda mine, random: mine[None] + random, trained, fresh)

        prior = IsotropicPrior(np.float32(settings.prior_precision))
        problem = Problem(
            objective=Objective(MixtureNoiseGiven(), prior),
            data=self._noisy(self.rows.data, noise),
            initialise=initialise,
            starts=jax.tree.map(lambda leaf: leaf[None], trained),
            validation_rows=self.rows.split.set_aside,
            held_out=None if held_out is None else self._noisy(held_out, noise),
        )
        stage = self.stage.within(f"Round {number} · Step 3")
        return settings.engine.run(self.key("step 3", number), problem, stage)

    def noise_variance(self, noise: Noise, x: np.ndarray) -> np.ndarray:
        """Return the noise of every mode, ``(rows, ..., outputs, modes)``."""
        return noise_of_modes(noise, x, self.settings.num_modes)

    def mixture(self, raw: np.ndarray) -> Mixture:
        """Return the meaning of the network's outputs."""
        return from_network(raw, self.settings.num_modes)

    @property
    def _folds(self) -> list[int]:
        """Places of the fold networks in the split; the mean network has place 0."""
        return list(range(1, self.rows.num_folds + 1))

    def _noisy(self, data: Dataset, noise: Noise) -> NoisyDataset:
        """Return rows with all of the noise of each mode."""
        variance = data.known_variance[..., None] + self.noise_variance(noise, data.x)
        return NoisyDataset(data.x, data.target, data.weight, variance)

    def _train(
        self,
        key: Key,
        log_likelihood: LogLikelihood,
        starts: Network | ModesAndNoise,
        data: AnyDataset,
        runs: list[int],
        stage: Stage,
    ) -> Trained:
        """Train a fleet to the best epoch; ``runs`` are the places of its rows in the split."""
        split = self.rows.split
        decay = IsotropicPrior.decay(self.settings.weight_decay, data.weight[split.train_rows[0]])
        return train(
            key,
            Objective(log_likelihood, decay),
            starts,
            data,
            pad_rows([split.train_rows[run] for run in runs]),
            self.settings.mean_training,
            watch_rows=pad_rows([split.watch_rows[run] for run in runs]),
            stage=stage,
        )

    def _build(self, recipe: object, keys: Key) -> Network:
        # Both networks have two numbers for every mode of every output.
        return self.rows.shapes.build(recipe, 2 * self.settings.num_modes, keys)
