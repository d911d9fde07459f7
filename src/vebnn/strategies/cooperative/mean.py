"""Step 1: train the mean network, and with it one network per cross-fit fold (eq. 2)."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import numpy as np

from vebnn.core.types import Key, NoisyDataset
from vebnn.inference.evaluation import evaluate_draws
from vebnn.likelihoods.log_likelihoods import GaussianNoiseGiven, IsotropicPrior
from vebnn.networks import Network
from vebnn.training import (
    Objective,
    Split,
    Stage,
    Trained,
    Training,
    pad_rows,
    train,
    train_to_best_epoch,
)


@dataclass(frozen=True)
class MeanStep:
    """Minimise Σ (y − μ)²/variance + L2, for the mean network and all fold networks at once."""

    starts: Network  # fresh, stacked: the mean network, then one per fold
    data: NoisyDataset  # with the relative variance of the noise
    split: Split
    weight_decay: float

    @property
    def objective(self) -> Objective:
        """The loss of all networks."""
        weight = self.data.weight[self.split.train_rows[0]]
        decay = IsotropicPrior.decay(self.weight_decay, weight, of_squares=True)
        return Objective(GaussianNoiseGiven(), decay)

    def train(self, key: Key, settings: Training, stage: Stage, *, refit: bool) -> Trained:
        """Return the networks at their best epoch on validation rows.

        With ``refit``, each network is trained again, from the same start, on its training and
        validation rows together, for its best number of epochs.
        """
        split, (key_search, key_refit) = self.split, jax.random.split(key)
        trained, _ = train_to_best_epoch(
            key_search,
            key_refit,
            self.objective,
            self.starts,
            self.data,
            settings,
            train_rows=pad_rows(split.train_rows),
            watch_rows=pad_rows(split.watch_rows),
            final_rows=pad_rows(split.final_rows) if refit else None,
            stage=stage,
        )
        return trained

    def best_learning_rate(
        self, key: Key, settings: Training, rates: tuple[float, ...], stage: Stage
    ) -> float:
        """Train the mean network with each learning rate, as one fleet; return the best rate."""
        trained = train(
            key,
            self.objective,
            jax.tree.map(lambda leaf: np.repeat(leaf[:1], len(rates), axis=0), self.starts),
            self.data,
            pad_rows(self.split.train_rows[:1] * len(rates)),
            settings,
            watch_rows=pad_rows(self.split.watch_rows[:1] * len(rates)),
            learning_rate=np.asarray(rates, np.float32),
            stage=stage,
        )
        return rates[int(np.argmin(trained.best_value))]


class OutOfFold(NamedTuple):
    """Predictions of each row by the fold network that was not trained on it."""

    mean: np.ndarray
    variance: np.ndarray  # between the fold networks: the error of such a mean


def out_of_fold(folds: Network, split: Split, x: np.ndarray) -> OutOfFold:
    """Predict each row with the network of its fold."""
    every = evaluate_draws(folds, x)
    mean = every[split.fold, np.arange(len(split.fold))]
    return OutOfFold(mean, every.var(axis=0, ddof=1))
