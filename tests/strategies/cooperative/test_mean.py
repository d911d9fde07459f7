"""Step 1: the mean network and the fold networks."""

import jax
import numpy as np

from tests.support.arrays import networks, noisy
from vebnn import MLP, Training
from vebnn.strategies.cooperative.mean import MeanStep, out_of_fold
from vebnn.training import SILENT, split_rows


def test_with_known_noise_it_is_weighted_least_squares():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(60, 2))
    variance = rng.uniform(0.1, 4, (60, 1))
    y = x @ [[1.0], [-2.0]] + 0.5 + np.sqrt(variance) * rng.normal(size=(60, 1))
    design = np.hstack([x, np.ones((60, 1))]) / np.sqrt(variance)
    expected = np.linalg.lstsq(design, y / np.sqrt(variance))[0][:, 0]
    split = split_rows(np.random.default_rng(0), 60, 0, 0.2, held_out=np.arange(60))
    step = MeanStep(networks(MLP(()), 2, 1), noisy(x, y, noise_variance=variance), split, 0)
    settings = Training(num_epochs=1_500, learning_rate=1e-2)
    trained = step.train(jax.random.key(0), settings, SILENT, refit=False)
    found = trained.params.weights
    found = np.append(found.weights[0][0, 0], found.biases[0][0])
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_weight_decay_is_ridge_regression():
    # PyTorch's factor: the minimum of mean((y − w x)²) + decay/2 · w², here with x² = 1.
    x = np.tile([[1.0], [-1.0]], (20, 1))
    step = MeanStep(
        networks(MLP(()), 1, 1),
        noisy(x, 3 * x),
        split_rows(np.random.default_rng(0), 40, 0, 0.2, held_out=np.arange(40)),
        weight_decay=0.5,
    )
    settings = Training(num_epochs=2_000, learning_rate=1e-2)
    trained = step.train(jax.random.key(0), settings, SILENT, refit=False)
    np.testing.assert_allclose(trained.params.weights.weights[0], 3 / (1 + 0.5 / 2), rtol=1e-2)


def test_a_refit_trains_on_all_rows_for_the_best_number_of_epochs():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(40, 2)), rng.normal(size=(40, 1))
    split = split_rows(np.random.default_rng(0), 40, 2, 0.3)
    starts = networks(MLP((20,), "tanh"), 2, 1, count=3)
    step = MeanStep(starts, noisy(x, y), split, 0)
    settings = Training(num_epochs=200, learning_rate=1e-2)
    searched = step.train(jax.random.key(0), settings, SILENT, refit=False)
    refitted = step.train(jax.random.key(0), settings, SILENT, refit=True)
    # Pure noise: networks that go on learning it predict unseen rows worse and worse.
    assert (searched.best_epoch < 200).all()
    np.testing.assert_array_equal(refitted.num_epochs, searched.best_epoch)
    # A row of a network's own fold cannot move it, any other row does.
    moved = y.copy()
    row = np.flatnonzero(split.fold == 0)[0]
    moved[row] += 1
    watched = step.data._replace(target=moved.astype(np.float32))
    again = MeanStep(starts, watched, split, 0).train(jax.random.key(0), settings, SILENT, refit=True)
    same = [np.array_equal(*pair) for pair in zip(*map(biases, (refitted, again)), strict=True)]
    assert same == [False, True, False]


def biases(trained) -> np.ndarray:
    return trained.params.weights.biases[0]


def test_a_row_is_predicted_by_the_network_that_never_saw_it():
    folds = networks(MLP(()), 1, 1, count=3)
    # Three constant functions: 0, 1 and 2.
    folds.weights.weights[0][:] = 0
    folds.weights.biases[0][:] = np.arange(3)[:, None]
    split = split_rows(np.random.default_rng(1), 9, 3, 0.2)
    found = out_of_fold(folds, split, np.zeros((9, 1), np.float32))
    np.testing.assert_array_equal(found.mean[:, 0], split.fold)
    np.testing.assert_allclose(found.variance, 1.0)


def test_out_of_fold_predictions_of_pure_noise_are_not_better_than_zero():
    # Nothing can be learned, so no network predicts unseen rows better than zero does.
    rng = np.random.default_rng(12)
    errors = []
    for seed in range(4):
        x, y = rng.normal(size=(30, 2)), rng.normal(size=(30, 1))
        split = split_rows(np.random.default_rng(seed), 30, 5, 0.2)
        step = MeanStep(networks(MLP((20,), "tanh"), 2, 1, count=6), noisy(x, y), split, 0)
        settings = Training(num_epochs=400, learning_rate=1e-2)
        trained = step.train(jax.random.key(seed), settings, SILENT, refit=False)
        folds = jax.tree.map(lambda leaf: leaf[1:], trained.params)
        unseen = out_of_fold(folds, split, x.astype(np.float32))
        errors.append(np.mean((unseen.mean - y) ** 2) / np.mean(y**2))
    assert np.mean(errors) > 0.98
