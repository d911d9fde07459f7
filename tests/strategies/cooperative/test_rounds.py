"""Scores of a round, and the choice between rounds."""

import numpy as np
import pytest
from scipy import stats

from tests.support.arrays import noisy
from vebnn.inference.evaluation import Moments
from vebnn.strategies.cooperative.rounds import (
    Round,
    choose_round,
    held_out_nll,
    leave_one_out,
    leave_one_out_nll,
    most_rounds,
)


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
    found = leave_one_out_nll(outputs, noisy(np.zeros((size, 1)), y, noise_variance=noise**2))
    assert found == pytest.approx(-np.mean(exact), rel=0.01)


def test_leave_one_out_of_one_draw_is_its_nll():
    log_density = np.array([[[-1.0, -2.0], [-4.0, -8.0]]])  # (draws, rows, outputs)
    weight = np.array([[1.0, 2.0], [1.0, 0.0]])
    assert leave_one_out(log_density, weight) == pytest.approx((1 + 4 + 4) / 4)


def test_held_out_nll_is_that_of_the_predictive_gaussian():
    moments = Moments(np.array([[1.0], [2.0]]), np.array([[0.5], [0.1]]))
    observed = noisy([[0], [0]], [[1.5], [0.0]], noise_variance=[[1.0], [0.3]])
    found = held_out_nll(moments, observed)
    expected = -np.mean([stats.norm.logpdf(1.5, 1, 1.5**0.5), stats.norm.logpdf(0, 2, 0.4**0.5)])
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("criterion", "expected"), [("marginal_likelihood", 2), ("validation", 0), ("last", 3)]
)
def test_the_criterion_chooses_the_round(criterion, expected):
    # Algorithm 1 takes the arg max over i > 1: the first round has the largest LMglk but is out.
    evidence, nll = [9.0, 1.0, 3.0, 2.0], [0.1, 0.5, 0.4, 0.2]
    rounds = [
        Round(n + 1, e, v, "held out", 1.0, 1)
        for n, (e, v) in enumerate(zip(evidence, nll, strict=True))
    ]
    assert choose_round(rounds, criterion) == expected
    assert choose_round(rounds[:1], criterion) == 0


@pytest.mark.parametrize(
    ("num_rows", "most"), [(20, 12), (2_000, 12), (8_000, 6), (32_000, 3), (1_000_000, 3)]
)
def test_tables_of_more_rows_take_fewer_rounds(num_rows, most):
    assert most_rounds(num_rows) == most
