"""The choice of a learning rate and β, with all candidates as one fleet."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from sklearn.utils import check_random_state

from tests.support.settings import BRIEF, Stay, quick_joint
from vebnn import BayesByBackprop, Ensemble, JointRegressor, Training
from vebnn.likelihoods.heads import MeanVariance
from vebnn.likelihoods.log_likelihoods import IsotropicPrior, MeanAndNoise
from vebnn.strategies.contract import Rows
from vebnn.strategies.joint.algorithm import _Steps
from vebnn.training import NegativeLogLikelihood, Objective, pad_rows, train

pytestmark = pytest.mark.usefixtures("quick_compilation")

RATES = (1e-7, 3e-3, 1e-2)


@pytest.fixture(scope="module")
def chosen(sine):
    return quick_joint(loss="beta_nll", beta=None, learning_rates=RATES).fit(*sine)


def test_the_best_of_all_trials_is_chosen(chosen):
    tried = [(trial.learning_rate, trial.beta) for trial in chosen.trials_]
    assert tried == [(rate, beta) for rate in RATES for beta in (0, 0.25, 0.5, 0.75, 1)]
    best = min(chosen.trials_, key=lambda trial: trial.validation_nll)
    assert (chosen.learning_rate_, chosen.beta_) == (best.learning_rate, best.beta)
    # A learning rate of 1e-7 changes nothing, so it cannot be the best.
    assert chosen.learning_rate_ > 1e-7


def test_the_chosen_settings_are_those_of_the_training(chosen, sine):
    X, y = sine
    settings = {"beta": chosen.beta_, "training": replace(BRIEF, learning_rate=chosen.learning_rate_)}
    alone = quick_joint(loss="beta_nll", **settings).fit(X, y)
    assert alone.trials_ == ()
    np.testing.assert_array_equal(alone.predict(X), chosen.predict(X))
    engine = Stay()
    quick_joint(learning_rates=(4e-3,), inference=engine).fit(X, y)
    assert engine.rates == [4e-3]


def test_all_trials_are_one_fleet(sine, stages):
    quick_joint(loss="beta_nll", beta=None, learning_rates=RATES, verbose=1).fit(*sine)
    assert stages.names == ["Comparison", "Inference", "Inference · all rows"]
    assert stages.expected == [stages.names]
    assert stages.num_runs["Comparison"] == 15


@pytest.mark.parametrize("number", [6, 14])
def test_a_trial_is_as_good_as_a_run_of_its_own(chosen, sine, number):
    X, y = sine
    rows = chosen._dataset(X, y, np.ones((60, 1)), None)
    key = jax.random.key(check_random_state(0).randint(2**31 - 1))
    steps = _Steps(chosen._strategy(60), key, Rows(rows))
    trial = chosen.trials_[number]
    # weight_decay · targets, as for the mean of a loss over targets.
    prior = IsotropicPrior(np.float32(1e-6 * 48))
    head = MeanVariance(np.float32(trial.beta))
    alone = train(
        jax.random.key(7),
        Objective(MeanAndNoise(head), prior),
        steps.start,
        rows,
        pad_rows(steps.rows.split.train_rows),
        replace(BRIEF, learning_rate=trial.learning_rate),
        watch_rows=pad_rows(steps.rows.split.watch_rows),
        monitor=NegativeLogLikelihood(MeanAndNoise(head, density=True)),
    )
    assert trial.validation_nll == pytest.approx(alone.best_value[0], rel=1e-4)
    assert trial.best_epoch == alone.best_epoch[0]


def test_trials_are_saved(chosen, tmp_path):
    chosen.save(tmp_path / "model")
    loaded = JointRegressor.load(tmp_path / "model")
    assert loaded.trials_ == chosen.trials_
    assert (loaded.learning_rate_, loaded.beta_) == (chosen.learning_rate_, chosen.beta_)


def test_held_out_rows_decide_and_are_never_trained_on(held):
    model = quick_joint(learning_rates=(3e-3, 1e-2), inference=Ensemble(3, BRIEF))
    far = held | {"y_val": held["y_val"] + 1e4}
    best_epochs = []
    for rows, good in ((held, True), (far, False)):
        model.fit(**rows)
        nll = [trial.validation_nll for trial in model.trials_]
        assert max(nll) < 10 if good else min(nll) > 100
        best_epochs.append(model.fitted_.posterior.info["best_epoch"])
        assert abs(model.predict(held["X"]).mean() - held["y"].mean()) < held["y"].std()
    # They stop the engine, too: far targets favour the wide noise of untrained networks.
    assert (best_epochs[0] != best_epochs[1]).all()


def test_an_elbo_keeps_its_own_learning_rate(sine, monkeypatch):
    rates = []
    monkeypatch.setattr(
        BayesByBackprop, "run", lambda self, *_: rates.append(self.training.learning_rate)
    )
    engine = BayesByBackprop(training=Training(3, learning_rate=1e-2))
    with pytest.raises(AttributeError):  # there is no posterior
        quick_joint(inference=engine, learning_rates=(1e-4, 1e-3)).fit(*sine)
    assert rates == [1e-2]


def test_held_out_rows_reach_the_engine_with_their_noise(held):
    engine = Stay()
    model = quick_joint(loss="mse", noise_std=3.0, inference=engine).fit(**held)
    held_out = engine.problems[0].held_out
    np.testing.assert_allclose(model.y_units_.restore(held_out.target)[:, 0], held["y_val"], rtol=1e-5)
    np.testing.assert_allclose(held_out.known_variance * model.y_units_.scale**2, 9, rtol=1e-5)
