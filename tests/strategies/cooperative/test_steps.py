"""Steps 1 and 2 and the scores of a round, each against a formula of its own."""

from dataclasses import replace

import equinox as eqx
import jax
import numpy as np
import pytest
from scipy import stats

from vebnn import GRU, MLP, Training
from vebnn.core.types import Dataset
from vebnn.inference.evaluation import Moments
from vebnn.likelihoods.log_likelihoods import HeadObjective, IsotropicPrior
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS
from vebnn.networks import build_networks
from vebnn.strategies.cooperative.algorithm import Round, _choose
from vebnn.strategies.cooperative.mean import out_of_fold, train_means
from vebnn.strategies.cooperative.rounds import held_out_nll, leave_one_out_nll
from vebnn.strategies.cooperative.variance import (
    Residuals,
    aleatoric_variance,
    log_marginal_likelihood,
    train_variance,
)
from vebnn.training import SILENT, Objective, pad_rows, split_rows, train

SETTINGS = Training(num_epochs=1_500, learning_rate=1e-2)


def dataset(x, target, weight=1.0, variance=0.0):
    target = np.asarray(target, np.float32)
    full = [np.broadcast_to(np.asarray(a, np.float32), target.shape) for a in (weight, variance)]
    return Dataset(np.asarray(x, np.float32), target, *full)


def networks(recipe, in_size, out_size, count=1):
    keys = jax.random.split(jax.random.key(0), count)
    networks = build_networks(recipe, (in_size,), out_size, keys)
    return jax.tree.map(np.array, params), skeleton


def test_out_of_fold_residuals_of_pure_noise_are_not_flattering():
    # Nothing can be learned, so no honest network predicts unseen rows better than zero does.
    rng = np.random.default_rng(12)
    errors = []
    for seed in range(4):
        x, y = rng.normal(size=(30, 2)), rng.normal(size=(30, 1))
        params, skeleton = networks(MLP((20,), "tanh"), 2, 1, count=6)
        split = split_rows(np.random.default_rng(seed), 30, 5, 0.2)
        trained = train_means(
            jax.random.key(seed),
            skeleton,
            params,
            dataset(x, y, variance=1.0),
            split,
            Training(num_epochs=400, learning_rate=1e-2),
            weight_decay=0,
            refit=False,
            stage=SILENT,
        )
        folds = jax.tree.map(lambda leaf: leaf[1:], trained.params)
        unseen = out_of_fold(skeleton, folds, split, x.astype(np.float32))
        errors.append(np.mean((unseen.mean - y) ** 2) / np.mean(y**2))
    assert np.mean(errors) > 0.98


def test_a_row_is_predicted_by_the_network_that_never_saw_it():
    params, skeleton = networks(MLP(()), 1, 1, count=3)
    # Three constant functions: 0, 1 and 2.
    params.weights[0][:] = 0
    params.biases[0][:] = np.arange(3)[:, None]
    split = split_rows(np.random.default_rng(1), 9, 3, 0.2)
    found = out_of_fold(skeleton, params, split, np.zeros((9, 1), np.float32))
    np.testing.assert_array_equal(found.mean[:, 0], split.fold)
    np.testing.assert_allclose(found.variance, 1.0)


def test_step_1_with_known_noise_is_weighted_least_squares():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(60, 2))
    variance = rng.uniform(0.1, 4, (60, 1))
    y = x @ [[1.0], [-2.0]] + 0.5 + np.sqrt(variance) * rng.normal(size=(60, 1))
    design = np.hstack([x, np.ones((60, 1))]) / np.sqrt(variance)
    expected = np.linalg.lstsq(design, y / np.sqrt(variance))[0][:, 0]
    params, skeleton = networks(MLP(()), 2, 1)
    split = split_rows(np.random.default_rng(0), 60, 0, 0.2, held_out=np.arange(60))
    trained = train_means(
        jax.random.key(0),
        skeleton,
        params,
        dataset(x, y, variance=variance),
        split,
        SETTINGS,
        weight_decay=0,
        refit=False,
        stage=SILENT,
    )
    found = np.append(trained.params.weights[0][0, 0], trained.params.biases[0][0])
    np.testing.assert_allclose(found, expected, atol=1e-3)


def fit_noise(x, squared, offset=0.0, rescale=True, weight=1.0, loss="gamma"):
    head = VARIANCE_HEADS[loss]
    start, skeleton = networks(MLP((5,), "tanh"), x.shape[1], head.parts * squared.shape[1])
    squared = np.asarray(squared, np.float32)
    offset = np.broadcast_to(np.float32(offset), squared.shape)
    noise = train_variance(
        jax.random.key(1),
        skeleton,
        head,
        start,
        dataset(x, squared, weight=weight),
        Residuals(squared, offset),
        SETTINGS,
        rescale=rescale,
        stage=SILENT,
    )
    return aleatoric_variance(skeleton, head, noise, np.asarray(x, np.float32))


def test_constant_noise_is_the_mean_squared_residual():
    # Whatever its shape, the mean of a maximum-likelihood Gamma is the sample mean.
    squared = np.random.default_rng(3).normal(0, 1.7, (2_000, 1)) ** 2
    found = fit_noise(np.zeros((2_000, 1)), squared)
    np.testing.assert_allclose(found, squared.mean(), rtol=0.02)


@pytest.mark.parametrize("loss", sorted(VARIANCE_HEADS))
def test_noise_that_changes_with_x_is_found(loss):
    rng = np.random.default_rng(4)
    x = rng.uniform(-1.7, 1.7, (2_000, 1))
    std = np.exp(0.6 * x)
    found = np.sqrt(fit_noise(x, (std * rng.normal(size=x.shape)) ** 2, loss=loss))
    assert np.mean(np.abs(found - std) / std) < 0.1


@pytest.mark.parametrize("loss", sorted(VARIANCE_HEADS))
def test_only_what_exceeds_the_offset_is_noise(loss):
    rng = np.random.default_rng(5)
    x = rng.uniform(-1, 1, (4_000, 1))
    squared = rng.normal(0, np.sqrt(1.0 + 3.0), x.shape) ** 2
    found = fit_noise(x, squared, offset=3.0, loss=loss)
    assert found.mean() == pytest.approx(1.0, rel=0.2)


def test_folds_keep_noise_along_sequences_from_being_learned_by_heart():
    # The same noise everywhere, but each sequence is all too high or all too low.
    rng = np.random.default_rng(7)
    paths = np.cumsum(rng.normal(0, 0.3, (80, 20, 2)), axis=1).astype(np.float32)
    known, fresh = paths[:16], paths[16:]
    squared = np.broadcast_to(rng.normal(size=(16, 1, 1)) ** 2, (16, 20, 1)).astype(np.float32)
    head = VARIANCE_HEADS["gamma"]
    start, skeleton = build_networks(
        GRU((8,)), (20, 2), head.parts, jax.random.split(jax.random.key(0), 1), steps=(20,)
    )

    def error(fold):
        noise = train_variance(
            jax.random.key(1),
            skeleton,
            head,
            start,
            dataset(known, squared),
            Residuals(squared, np.zeros_like(squared)),
            Training(400, learning_rate=1e-2, patience=100),
            rescale=True,
            fold=fold,
            stage=SILENT,
        )
        found = aleatoric_variance(skeleton, head, noise, fresh)
        return np.std(np.log(found)), int(noise.num_epochs)

    by_heart, epochs = error(None)
    stopped, fewer = error(np.arange(16) % 4)
    assert fewer < epochs
    assert stopped < by_heart / 3


def test_the_variance_network_stops_where_unseen_rows_fare_best():
    rng = np.random.default_rng(9)
    x, squared = rng.normal(size=(60, 2)), np.float32(rng.normal(size=(60, 1)) ** 2)
    # A row that nobody observed counts nowhere, wherever it is.
    weight = np.float32(np.arange(60) > 0)[:, None]
    rows, fold = dataset(x, squared, weight=weight), np.arange(60) % 3
    head, settings = VARIANCE_HEADS["gamma"], Training(200, learning_rate=1e-2)
    start, skeleton = networks(MLP((5,), "tanh"), 2, head.parts)
    noise = train_variance(
        jax.random.key(1),
        skeleton,
        head,
        start,
        rows,
        Residuals(squared, np.zeros_like(squared)),
        settings,
        rescale=False,
        fold=fold,
        stage=SILENT,
    )
    objective = Objective(HeadObjective(skeleton, head), IsotropicPrior(np.float32(1)))
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
        every = jax.vmap(lambda own: jax.vmap(eqx.combine(own, skeleton))(rows.x))(trained.params)
        raw = every[fold, np.arange(60)]
        return -float((weight * head.log_prob(raw, squared, np.zeros_like(squared))).sum())

    epochs = int(noise.num_epochs)
    assert 1 < epochs < 200
    assert unseen(epochs) < min(unseen(num) for num in (1, epochs - 1, epochs + 1, 200))


def test_rescaled_noise_does_not_know_units():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(300, 2))
    squared = rng.normal(size=(300, 1)) ** 2
    np.testing.assert_allclose(fit_noise(x, squared * 1e-6), fit_noise(x, squared) * 1e-6, rtol=1e-3)


def test_without_rescaling_the_prior_has_a_scale():
    # The reason for rescaling: weights of size one cannot say "a rate of a million".
    rng = np.random.default_rng(7)
    x, squared = np.zeros((50, 1)), rng.normal(0, 1e-3, (50, 1)) ** 2
    assert fit_noise(x, squared, rescale=False, loss="gamma_rate").mean() > 3 * squared.mean()
    assert fit_noise(x, squared, loss="gamma_rate").mean() == pytest.approx(squared.mean(), rel=0.2)


def test_rows_of_weight_zero_teach_nothing():
    rng = np.random.default_rng(8)
    squared = rng.normal(size=(400, 1)) ** 2
    squared[200:] = 100
    weight = np.repeat([[1.0], [0.0]], 200, 0)
    found = fit_noise(np.zeros((400, 1)), squared, weight=weight)
    np.testing.assert_allclose(found, squared[:200].mean(), rtol=0.05)


def test_log_marginal_likelihood_is_the_average_over_draws():
    draws, skeleton = networks(MLP((3,)), 1, 2, count=6)
    rng = np.random.default_rng(9)
    x, y, variance = rng.normal(size=(8, 1)), rng.normal(size=(8, 2)), rng.uniform(0.5, 2, (8, 2))
    likelihoods = []
    for draw in range(6):
        hidden = np.maximum(x @ draws.weights[0][draw].T + draws.biases[0][draw], 0)
        mean = hidden @ draws.weights[1][draw].T + draws.biases[1][draw]
        likelihoods.append(np.exp(stats.norm.logpdf(y, mean, np.sqrt(variance)).sum()))
    found = log_marginal_likelihood(skeleton, draws, dataset(x, y), variance.astype(np.float32))
    assert float(found) == pytest.approx(np.log(np.mean(likelihoods)), rel=1e-4)


def test_leave_one_out_matches_the_closed_form():
    # One unknown mean with prior N(0, 1) and known noise: every posterior is Gaussian.
    rng = np.random.default_rng(10)
    noise, size = 0.8, 12
    y = rng.normal(0.5, noise, (size, 1))

    def posterior(values):
        precision = 1 + len(values) / noise**2
        return values.sum() / noise**2 / precision, 1 / precision

    center, spread = posterior(y[:, 0])
    outputs = rng.normal(center, np.sqrt(spread), (20_000, 1, 1)) * np.ones((1, size, 1))
    exact = []
    for row in range(size):
        left, var = posterior(np.delete(y[:, 0], row))
        exact.append(stats.norm.logpdf(y[row, 0], left, np.sqrt(var + noise**2)))
    found = leave_one_out_nll(outputs, dataset(np.zeros((size, 1)), y), np.full((size, 1), noise**2))
    assert found == pytest.approx(-np.mean(exact), rel=0.01)


def test_held_out_nll_is_that_of_the_predictive_gaussian():
    moments = Moments(np.array([[1.0], [2.0]]), np.array([[0.5], [0.1]]))
    observed = dataset([[0], [0]], [[1.5], [0.0]])._replace(variance=np.array([[1.0], [0.3]]))
    found = held_out_nll(moments, observed)
    expected = -np.mean([stats.norm.logpdf(1.5, 1, 1.5**0.5), stats.norm.logpdf(0, 2, 0.4**0.5)])
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("how", "expected"), [("marginal_likelihood", 2), ("validation", 0), ("last", 3)]
)
def test_the_round_is_chosen_as_told(how, expected):
    # Algorithm 1 takes the arg max over i > 1: the first round has the largest LMglk but is out.
    evidence, nll = [9.0, 1.0, 3.0, 2.0], [0.1, 0.5, 0.4, 0.2]
    rounds = [
        Round(n + 1, e, v, "held out", 1.0, 1)
        for n, (e, v) in enumerate(zip(evidence, nll, strict=True))
    ]
    assert _choose(rounds, how) == expected
    assert _choose(rounds[:1], how) == 0
