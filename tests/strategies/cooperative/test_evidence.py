"""LMglk, the log of the likelihood averaged over draws."""

import numpy as np
import pytest
from scipy import stats

from tests.support.arrays import networks, noisy
from vebnn import MLP
from vebnn.strategies.cooperative.evidence import (
    log_marginal_likelihood,
    log_mean_exp,
    mean_log_marginal_likelihood,
)


@pytest.mark.parametrize("weighted", [False, True])
def test_log_marginal_likelihood_is_the_average_over_draws(weighted):
    draws = networks(MLP((3,)), 1, 2, count=6)
    layers = draws.weights
    rng = np.random.default_rng(9)
    x, y, variance = rng.normal(size=(8, 1)), rng.normal(size=(8, 2)), rng.uniform(0.5, 2, (8, 2))
    weight = rng.choice([0.0, 1.0, 2.0], (8, 2)) if weighted else np.ones((8, 2))
    likelihoods = []
    for draw in range(6):
        hidden = np.maximum(x @ layers.weights[0][draw].T + layers.biases[0][draw], 0)
        mean = hidden @ layers.weights[1][draw].T + layers.biases[1][draw]
        log_density = weight * stats.norm.logpdf(y, mean, np.sqrt(variance))
        likelihoods.append(np.exp(log_density.sum()))
    found = log_marginal_likelihood(draws, noisy(x, y, weight, variance))
    assert float(found) == pytest.approx(np.log(np.mean(likelihoods)), rel=1e-4)


def test_large_tables_are_summed_in_pieces(monkeypatch):
    draws, rng = networks(MLP((3,)), 1, 2, count=4), np.random.default_rng(1)
    x, y, variance = rng.normal(size=(23, 1)), rng.normal(size=(23, 2)), rng.uniform(1, 2, (23, 2))
    data = noisy(x, y, np.ones((23, 2)), variance)
    whole = log_marginal_likelihood(draws, data)
    monkeypatch.setattr("vebnn.strategies.cooperative.evidence.LARGE", 22)
    monkeypatch.setattr("vebnn.strategies.cooperative.evidence.PIECE_ROWS", 5)
    assert float(log_marginal_likelihood(draws, data)) == pytest.approx(float(whole), rel=1e-6)


def test_large_tables_are_scored_on_some_rows(monkeypatch):
    draws, rng = networks(MLP((3,)), 1, 1, count=4), np.random.default_rng(1)
    x, y = rng.normal(size=(2, 23, 1))
    data, some = (
        noisy(x[rows], y[rows], np.ones((len(x[rows]), 1)), np.ones((len(x[rows]), 1)))
        for rows in (slice(None), [0, 5, 11, 16, 22])
    )
    whole = float(log_marginal_likelihood(draws, data))
    assert mean_log_marginal_likelihood(draws, data) == pytest.approx(whole / 23)
    monkeypatch.setattr("vebnn.training.batches.MANY", 5)
    expected = float(log_marginal_likelihood(draws, some)) / 5
    assert mean_log_marginal_likelihood(draws, data) == pytest.approx(expected)


def test_very_small_likelihoods_can_be_averaged():
    # exp(−1000) is zero, even in double precision.
    found = log_mean_exp(np.array([-1000.0, -1001.0]))
    assert float(found) == pytest.approx(-1000 + np.log((1 + np.exp(-1)) / 2), rel=1e-6)
