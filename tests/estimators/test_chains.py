"""Chains of an estimator: how long they go on, and what a prediction says of them."""

import numpy as np
import pytest

from tests.support.settings import quick
from vebnn import PSGHMC, VeBNNRegressor

short_chains = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
pytestmark = [short_chains, pytest.mark.usefixtures("quick_compilation")]


@pytest.fixture(scope="module")
def data():
    X = np.linspace(-2, 2, 100)[:, None]
    return X, np.sin(3 * X[:, 0]) + np.random.default_rng(0).normal(0, 0.2, 100)


@pytest.fixture(scope="module")
def model(data):
    return quick().fit(*data)


def test_a_prediction_tells_what_its_spread_is_that_of(model, data, monkeypatch):
    X, _ = data
    mixed = model.diagnostics_._replace(r_hat=np.ones(4))
    apart = model.diagnostics_._replace(r_hat=np.full(4, 1.3))
    for diagnostics, spread in ((mixed, "posterior"), (apart, "ensemble"), (None, None)):
        monkeypatch.setattr(model, "diagnostics_", diagnostics)
        assert model.predict_distribution(X).spread == spread


def test_only_engines_left_to_the_defaults_are_continued_by_number(data):
    assert VeBNNRegressor()._strategy(100).most_continuations > 0
    assert VeBNNRegressor(inference=PSGHMC())._strategy(100).most_continuations == 0
    with pytest.raises(ValueError, match="`time_budget` must be"):
        VeBNNRegressor(time_budget=-1).fit(*data)


def test_a_time_budget_continues_chains_that_disagree(data):
    # Steps too short to leave the starts: the chains cannot agree.
    short = PSGHMC(num_samples=8, burn_in=1, thinning=1, num_chains=3, step_size=1e-4)
    plain = quick(inference=short, residuals="cross_fit").fit(*data)
    longer = quick(inference=short, residuals="cross_fit", time_budget=10.0).fit(*data)
    # The last continuation has its own, longer trace.
    assert longer.fitted_.posterior.trace.shape[1] > plain.fitted_.posterior.trace.shape[1]
