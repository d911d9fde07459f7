"""Fold networks decide when the variance network stops."""

from dataclasses import replace

import jax
import numpy as np

from tests.support.arrays import networks, residuals
from vebnn import GRU, MLP, Training
from vebnn.likelihoods.log_likelihoods import IsotropicPrior, SquaredResiduals
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS
from vebnn.networks import build_networks
from vebnn.strategies.cooperative.residuals import unit_of
from vebnn.strategies.cooperative.variance import train_variance
from vebnn.training import SILENT, Objective, pad_rows, train

HEAD = VARIANCE_HEADS["gamma"]


def test_folds_keep_noise_along_sequences_from_being_memorised():
    # The same noise everywhere, but each sequence is all too high or all too low.
    rng = np.random.default_rng(7)
    paths = np.cumsum(rng.normal(0, 0.3, (80, 20, 2)), axis=1).astype(np.float32)
    known, fresh = paths[:16], paths[16:]
    squared = np.broadcast_to(rng.normal(size=(16, 1, 1)) ** 2, (16, 20, 1))
    key = jax.random.split(jax.random.key(0), 1)
    start = build_networks(GRU((8,)), (20, 2), HEAD.parts, key, steps=(20,))

    def error(fold):
        noise = train_variance(
            jax.random.key(1),
            start,
            "gamma",
            residuals(known, squared),
            Training(400, learning_rate=1e-2, patience=100),
            scale=unit_of(residuals(known, squared), rescaled=True),
            fold=fold,
            stage=SILENT,
        )
        return np.std(np.log(noise.variance(fresh))), int(noise.num_epochs)

    memorised, epochs = error(None)
    stopped, fewer = error(np.arange(16) % 4)
    assert fewer < epochs
    assert stopped < memorised / 3


def test_the_variance_network_stops_at_the_epoch_that_is_best_for_unseen_rows():
    rng = np.random.default_rng(9)
    x, squared = rng.normal(size=(60, 2)), np.float32(rng.normal(size=(60, 1)) ** 2)
    # A row without an observation counts nowhere.
    weight = np.float32(np.arange(60) > 0)[:, None]
    rows, fold = residuals(x, squared, weight), np.arange(60) % 3
    settings = Training(200, learning_rate=1e-2)
    start = networks(MLP((5,), "tanh"), 2, HEAD.parts)
    noise = train_variance(
        jax.random.key(1), start, "gamma", rows, settings, scale=np.ones(1), fold=fold, stage=SILENT
    )
    objective = Objective(SquaredResiduals(HEAD), IsotropicPrior(np.float32(1)))
    key = jax.random.split(jax.random.key(1))[1]

    def unseen(num_epochs):
        """Return minus the log-density of every row, by networks that have not seen it."""
        trained = train(
            key,
            objective,
            jax.tree.map(lambda leaf: np.repeat(leaf, 3, axis=0), start),
            rows,
            pad_rows([np.flatnonzero(fold != own) for own in range(3)]),
            replace(settings, num_epochs=num_epochs),
        )
        every = jax.vmap(lambda own: jax.vmap(own)(rows.x))(trained.params)
        raw = every[fold, np.arange(60)]
        return -float((weight * HEAD.log_prob(raw, squared, np.zeros_like(squared))).sum())

    epochs = int(noise.num_epochs)
    assert 1 < epochs < 200
    assert unseen(epochs) < min(unseen(num) for num in (1, epochs - 1, epochs + 1, 200))
