import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import vebnn
from tests.support.settings import QUICK, Stay, quick, quick_joint, quick_mixture
from vebnn import MAP, MLP, PSGLD, Ensemble, Training, VeBNNRegressor

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (120, 2))
    return X, 50 + 10 * np.sin(X[:, 0]) + rng.normal(0, 2, 120)


@pytest.fixture(scope="module")
def model(data):
    return quick().fit(*data)


def test_results_are_in_the_users_units(model, data):
    X, y = data
    prediction = model.predict_distribution(X)
    assert abs(prediction.mean.mean() - y.mean()) < 2
    assert 1 < np.median(prediction.aleatoric_std) < 4
    assert prediction.mean.shape == y.shape
    assert prediction.draws.shape == (40, 120)
    np.testing.assert_allclose(prediction.draws.mean(0), prediction.mean, rtol=1e-5)
    np.testing.assert_allclose(prediction.draws.var(0), prediction.epistemic_variance, rtol=1e-3)


def test_units_of_the_data_do_not_matter(data):
    X, y = data
    plain = quick().fit(X, y).predict_distribution(X[:5])
    scaled = quick().fit(X * 1000 + 7, y / 4 - 3).predict_distribution(X[:5] * 1000 + 7)
    np.testing.assert_allclose(scaled.mean, plain.mean / 4 - 3, rtol=1e-2, atol=0.02)
    np.testing.assert_allclose(scaled.aleatoric_std, plain.aleatoric_std / 4, rtol=2e-2)


def test_predict_follows_scikit_learn(model, data):
    X, y = data
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_array_equal(mean, model.predict(X))
    np.testing.assert_array_equal(std, model.predict_distribution(X).std)
    assert model.score(X, y) > 0.7


def test_a_seed_makes_fit_reproducible_to_the_bit(model, data):
    X, y = data
    again = quick().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    other = quick(random_state=1).fit(X, y)
    assert (other.predict(X) != model.predict(X)).any()


def test_frames_keep_their_names(data):
    X, y = data
    frame = pd.DataFrame(X, columns=["strain", "rate"], index=range(100, 220))
    targets = pd.DataFrame({"stress": y, "heat": -y})
    model = quick().fit(frame, targets)
    table = model.predict_distribution(frame).to_frame()
    assert list(model.feature_names_in_) == ["strain", "rate"]
    assert list(table.index) == list(frame.index)
    assert "stress_mean" in table
    assert "heat_epistemic_std" in table
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["rate", "strain"]])


def test_each_output_has_its_own_noise():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (400, 1))
    y = np.hstack([X + rng.normal(0, 0.05, X.shape), X + rng.normal(0, 0.8, X.shape)])
    noise = quick(mean_training=Training(400, 1e-2)).fit(X, y).predict_distribution(X).aleatoric_std
    np.testing.assert_allclose(noise.mean(0), [0.05, 0.8], rtol=0.35)


@pytest.mark.parametrize("inference", [MAP(Training(100)), Ensemble(2, Training(100, patience=20))])
def test_other_engines_fit_too(data, inference):
    X, y = data
    model = quick(inference=inference).fit(X, y)
    prediction = model.predict_distribution(X)
    np.testing.assert_allclose(
        prediction.variance, prediction.aleatoric_variance + prediction.epistemic_variance
    )
    assert model.diagnostics_ is None
    assert (prediction.epistemic_std.max() == 0) == isinstance(inference, MAP)


def test_it_works_inside_scikit_learns_tools(data):
    X, y = data
    pipeline = make_pipeline(PolynomialFeatures(2, include_bias=False), quick())
    assert pipeline.fit(X, y).score(X, y) > 0.6
    search = GridSearchCV(quick(), {"num_folds": [2, 3]}, cv=2).fit(X, y)
    assert search.best_params_["num_folds"] in (2, 3)
    assert cross_val_predict(quick(), X, y, cv=2).shape == y.shape
    logarithmic = TransformedTargetRegressor(quick(), func=np.log, inverse_func=np.exp)
    assert logarithmic.fit(X, y).score(X, y) > 0.6


def test_rows_of_weight_zero_count_nowhere(data):
    X, y = data
    order = np.random.default_rng(3).permutation(150)
    spoiled = np.concatenate([y, np.full(30, 1e4)])[order]
    inputs = np.concatenate([X, np.full((30, 2), 1e30)])[order]
    kept = order[order < 120]
    found = quick().fit(inputs, spoiled, order < 120).predict_distribution(X)
    expected = quick().fit(X[kept], y[kept]).predict_distribution(X)
    np.testing.assert_array_equal(found.mean, expected.mean)
    np.testing.assert_array_equal(found.std, expected.std)


@pytest.mark.parametrize("failure", [KeyboardInterrupt, RuntimeError])
def test_a_fit_that_fails_leaves_the_model_as_it_was(model, data, failure, monkeypatch):
    X, y = data
    again, expected = copy.copy(model), model.predict(X)

    def fail(*_):
        raise failure

    monkeypatch.setattr(VeBNNRegressor, "_learn", fail)
    with pytest.raises(failure):
        again.fit(1e3 * X[:, :1], 1e5 * y)
    np.testing.assert_array_equal(again.predict(X), expected)
    fresh = quick()
    with pytest.raises(failure):
        fresh.fit(X, y)
    with pytest.raises(NotFittedError):
        fresh.predict(X)


def test_a_constant_column_is_ignored(data):
    X, y = data
    model = quick().fit(np.column_stack([X, np.full(120, 0.1)]), y)
    new = model.predict(np.column_stack([X, np.full(120, 0.2)]))
    assert np.abs(new - y.mean()).max() < 10 * y.std()


def test_known_measurement_error_is_not_learned_again():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (500, 1))
    y_std = np.full(500, 0.5)
    y = X[:, 0] + rng.normal(0, 0.1, 500) + rng.normal(0, y_std)
    settings = {"mean_training": Training(400, 1e-2), "variance_training": Training(800, 1e-2)}
    unaware = quick(**settings).fit(X, y).predict_distribution(X)
    aware = quick(**settings).fit(X, y, y_std=y_std).predict_distribution(X)
    assert unaware.aleatoric_std.mean() == pytest.approx(np.hypot(0.1, 0.5), rel=0.15)
    assert aware.aleatoric_std.mean() < 0.3
    # A new measurement with the same instrument has its error again.
    model = quick(**settings).fit(X, y, y_std=y_std)
    measured = model.predict_distribution(X, y_std=y_std)
    np.testing.assert_allclose(measured.aleatoric_variance, aware.aleatoric_variance + 0.25)


def test_one_measurement_error_is_that_of_every_row(data):
    X, y = data
    one, every = quick().fit(X, y, y_std=0.2), quick().fit(X, y, y_std=np.full(120, 0.2))
    np.testing.assert_array_equal(one.predict(X), every.predict(X))
    plain, measured = one.predict_distribution(X), one.predict_distribution(X, y_std=0.3)
    np.testing.assert_allclose(measured.aleatoric_variance, plain.aleatoric_variance + 0.09)
    np.testing.assert_array_equal(measured.epistemic_variance, plain.epistemic_variance)
    with pytest.raises(ValueError, match=r"Got -0\.3\."):
        one.predict_distribution(X, y_std=-0.3)


def test_held_out_rows_are_watched_and_never_trained_on(data):
    X, y = data
    far = np.full(40, 1e3)
    with_far = quick().fit(X[:80], y[:80], X_val=X[80:], y_val=far)
    assert with_far.predict(X).max() < 200
    assert with_far.rounds_[0].validation_kind == "held out"
    assert with_far.rounds_[0].validation_nll > 100


def test_held_out_rows_reach_the_engine_with_all_their_noise(data):
    X, y = data
    engine = Stay()
    held_out = {"X_val": X[80:], "y_val": y[80:], "y_std_val": np.full(40, 3.0)}
    model = quick(inference=engine).fit(X[:80], y[:80], y_std=np.full(80, 3.0), **held_out)
    (problem,) = engine.problems
    noise = model.predict_distribution(X[80:], y_std=3.0 * np.ones(40)).aleatoric_variance
    found = problem.held_out.noise_variance[:, 0] * model.y_units_.scale**2
    np.testing.assert_allclose(found, noise, rtol=1e-4)


def test_poor_chains_are_reported(data):
    bad = PSGLD(num_samples=8, burn_in=0, thinning=1, num_chains=2, step_size=1e-6)
    with pytest.warns(ConvergenceWarning, match="R-hat of the predictions"):
        model = quick(inference=bad).fit(*data)
    assert model.diagnostics_.typical_r_hat > 1.5


def test_sequences_of_targets_fit_a_network_that_makes_them():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 7, 2))
    y = np.cumsum(X, axis=1)[..., :1] + rng.normal(0, 0.1, (60, 7, 1))

    def by_step(outputs):
        def init(key, x):
            return {"w": 0.1 * jax.random.normal(key, (7, 7)), "v": jnp.ones((x.shape[1], outputs))}

        return init, lambda params, x: params["w"] @ x @ params["v"]

    model = quick(network=by_step(1), variance_network=by_step(2)).fit(X, y)
    prediction = model.predict_distribution(X)
    assert prediction.mean.shape == prediction.std.shape == (60, 7, 1)
    assert np.corrcoef(prediction.mean.ravel(), y.ravel())[0, 1] > 0.8
    with pytest.raises(ValueError, match=r"to an output of shape \(7, 2\). Got \(2,\)"):
        quick(network=by_step(1)).fit(X, y)


def test_few_draws_are_no_chain_to_judge(data):
    model = quick(inference=PSGLD(num_samples=1, burn_in=5, thinning=1)).fit(*data)
    assert model.diagnostics_ is None
    assert model.predict_distribution(data[0]).epistemic_std.max() == 0


def test_lists_are_data_too(model, data):
    frame = model.predict_distribution(data[0][:3].tolist()).to_frame()
    assert list(frame.index) == [0, 1, 2]


def test_predictions_can_be_pickled(model, data):
    # Processes of one program hand predictions to another; files of ours are never pickles.
    prediction = model.predict_distribution(data[0][:4])
    same = pickle.loads(pickle.dumps(prediction))
    np.testing.assert_array_equal(same.draws, prediction.draws)
    np.testing.assert_array_equal(same.std, prediction.std)


def test_double_precision_works():
    code = """
import jax; jax.config.update("jax_enable_x64", True)
import numpy as np
from tests.support.settings import quick
X = np.linspace(0, 1, 30)[:, None]
print(np.isfinite(quick().fit(X, X[:, 0]).predict(X)).all())
"""
    here = {
        **os.environ,
        "PYTHONPATH": str(Path(vebnn.__file__).parents[2]),
        "PYTHONWARNINGS": "ignore",
    }
    done = subprocess.run([sys.executable, "-c", code], env=here, capture_output=True, text=True)
    assert done.stdout.strip() == "True", done.stderr


def test_five_rows_are_enough():
    X = np.arange(5.0)[:, None]
    prediction = VeBNNRegressor(**(QUICK | {"num_folds": 5})).fit(X, X[:, 0]).predict_distribution(X)
    assert np.isfinite(prediction.std).all()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rounds": 0}, "`rounds` must be a whole number of at least 1. Got 0"),
        ({"num_folds": 1}, "`num_folds` must be a whole number of at least 2"),
        ({"inference": "hmc"}, "`inference` must be one of 'ensemble', .*'psgld', .*'map'. Got 'hmc'"),
        ({"residuals": "oob"}, "`residuals` must be one of"),
        ({"iterate": 3}, "`iterate` must be one of"),
        ({"choose_round": "best"}, "`choose_round` must be one of"),
        ({"validation_fraction": 1.0}, r"`validation_fraction` must be a number in \(0, 1\)"),
        ({"prior_precision": -1}, "`prior_precision` must be a number in"),
        ({"weight_decay": "x"}, "`weight_decay` must be a number in"),
        ({"mean_training": 100}, r"`mean_training` must be a Training\(...\) or None. Got 100"),
        ({"checkpoint": "x", "random_state": None}, "`checkpoint` needs a `random_state`"),
    ],
)
def test_wrong_arguments_get_a_sentence(data, change, sentence):
    with pytest.raises(ValueError, match=sentence):
        quick(**change).fit(*data)


class Duck:
    """Something with a method ``run`` that is no engine."""

    def run(self, key, problem, stage):
        pytest.fail("run")

    def __repr__(self):
        return "Duck()"


@pytest.mark.parametrize("make", [quick, quick_joint, quick_mixture])
def test_an_object_with_run_that_is_no_engine_gets_a_sentence(data, make):
    sentence = r"`inference` must be a name or an engine, a subclass of .*Engine\. Got Duck\(\)\."
    with pytest.raises(ValueError, match=sentence):
        make(inference=Duck()).fit(*data)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: VeBNNRegressor(variance_training=Training(0)).check_arguments(),
            r"`variance_training.num_epochs` must be a whole number of at least 1. Got 0",
        ),
        (lambda: Training(num_epochs=-1), "`num_epochs` must be a whole number of at least 0"),
        (lambda: Training(batch_size=0), "`batch_size` must be"),
        (lambda: Training(learning_rate=0), "`learning_rate` must be a number in"),
        (lambda: Training(patience=0), "`patience` must be"),
        (lambda: PSGLD(num_samples=0), "`num_samples` must be"),
        (lambda: PSGLD(decay=1.3), r"`decay` must be a number in \(0, 1\]. Got 1.3"),
        (lambda: PSGLD(step_size=-1), "`step_size` must be"),
        (lambda: Ensemble(0), "`num_members` must be"),
        (lambda: MLP((0,)), "`widths` of MLP must be a tuple of positive integers"),
        (lambda: MLP((4,), "swoosh"), "`activation` must be one of"),
    ],
)
def test_wrong_settings_get_a_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"sample_weight": np.ones(3)}, r"shape of `sample_weight` must be \(120,\)"),
        ({"sample_weight": -np.ones(120)}, "must be non-negative"),
        ({"y_std": np.ones(3)}, r"`y_std` must be a non-negative.* Got shape \(3,\)"),
        ({"y_std": np.ones((120, 3))}, r"one for each entry of y\. Got shape \(120, 3\)"),
        ({"y_std": np.r_[np.ones(119), -2]}, r"one for each of the 120 rows.* Got -2 in row 119\."),
        ({"y_std": np.r_[np.nan, np.ones(119)]}, r"Got nan in row 0\."),
        ({"y_std": -0.1}, r"Got -0\.1\."),
        ({"y_std": np.nan}, r"Got nan\."),
        ({"y_std": np.inf}, r"Got inf\."),
        ({"y_std": "small"}, r"Got 'small', which is not numbers"),
        ({"X_val": np.zeros((2, 2)), "y_val": np.zeros((2, 2))}, "`y_val` must have the shape of y"),
        ({"X_val": np.zeros((2, 2))}, "must be given together"),
        (
            {"X_val": np.zeros((2, 2)), "y_val": np.zeros(2), "y_std": np.ones(120)},
            "`y_std` and `y_std_val` must be given together",
        ),
    ],
)
def test_wrong_data_get_a_sentence(data, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        quick().fit(*data, **arguments)
