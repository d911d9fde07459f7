"""The joint baselines as an estimator: networks of all kinds, and sentences for wrong arguments."""

from dataclasses import dataclass

import jax
import numpy as np
import pytest
from sklearn.utils import estimator_checks

from tests.support.settings import Stay, quick_joint
from vebnn import MLP, JointRegressor
from vebnn.inference import Engine, Posterior, engine
from vebnn.strategies.joint import LOSSES, algorithm

pytestmark = pytest.mark.usefixtures("quick_compilation")


def test_noise_may_have_a_network_of_its_own(held, tmp_path):
    model = quick_joint(variance_head="separate", variance_network=MLP((3,), "tanh")).fit(**held)
    network = model.fitted_.posterior.draws.weights
    assert network.mean.weights[0].shape == (1, 1, 5, 2)
    assert network.rest.weights[0].shape == (1, 1, 3, 2)
    prediction = model.predict_distribution(held["X"])
    assert len(np.unique(prediction.aleatoric_std)) == 50
    model.save(tmp_path / "model")
    loaded = JointRegressor.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_distribution(held["X"]).variance, prediction.variance)


def test_sequences_of_targets(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 6, 2))
    y = X @ [[1.0], [-1.0]] + rng.normal(0, 0.1, (40, 6, 1))

    def init(key, x):
        return jax.random.normal(key, (x.shape[1], 1))

    network = (init, lambda params, x: x @ params)
    settings = {"variance_head": "constant", "prior_precision": 1e-3, "learning_rates": [1e-2]}
    model = quick_joint(network=network, **settings)
    prediction = model.fit(X[:30], y[:30], X_val=X[30:], y_val=y[30:]).predict_distribution(X)
    assert prediction.mean.shape == prediction.std.shape == (40, 6, 1)
    assert prediction.components.mean.shape == (1, 1, 40, 6, 1)
    assert len(np.unique(prediction.aleatoric_std)) == 1
    assert np.corrcoef(prediction.mean.ravel(), y.ravel())[0, 1] > 0.7
    # The pair is the user's own, and has to be passed again; the list is an argument like any other.
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"Pass it again: load\(folder, network=...\)"):
        JointRegressor.load(tmp_path / "model")
    loaded = JointRegressor.load(tmp_path / "model", network=network)
    assert loaded.learning_rates == [1e-2]
    np.testing.assert_array_equal(loaded.predict(X), prediction.mean)


def test_another_fit_has_other_targets(sine):
    X, y = sine
    model = quick_joint(loss="mse", noise_std=1.0, inference=Stay()).fit(X, y)
    two = np.column_stack([y, -y])
    model.set_params(noise_std=(1.0, 2.0)).fit(X, two)
    np.testing.assert_allclose(model.predict_distribution(X).aleatoric_std[0], [1, 2], rtol=1e-6)
    with pytest.raises(ValueError, match="one number, or one for each of the 1 targets"):
        model.fit(X, y)


@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_estimator_cloneable,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_parameters_default_constructible,
        estimator_checks.check_set_params,
    ],
)
def test_arguments_follow_scikit_learn(check):
    # The rest of its suite is about what all estimators share: see tests/contracts/test_sklearn.py.
    check("JointRegressor", quick_joint())


@pytest.mark.parametrize("loss", ["beta_nll", "evidential"])
@pytest.mark.parametrize("inference", ["psgld", "sgld", "sghmc", "mclmc", "nuts", "laplace", "bbb"])
def test_a_loss_that_is_no_likelihood_is_not_sampled(loss, inference, sine):
    with pytest.raises(
        ValueError, match=f"'{loss}' is no likelihood, so .* has no posterior to sample"
    ):
        quick_joint(loss=loss, inference=inference).fit(*sine)


@pytest.mark.parametrize("inference", [None, "map", "ensemble", "mc_dropout"])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_can_be_minimised(loss, inference):
    strategy = JointRegressor(loss=loss, inference=inference)._strategy(num_rows=20)
    assert strategy.head(0.5).parts == {"mse": 1, "evidential": 4}.get(loss, 2)


def forbid_training(monkeypatch: pytest.MonkeyPatch) -> None:
    for place, name in ((algorithm, "train"), (engine, "train_to_best_epoch")):
        monkeypatch.setattr(place, name, lambda *_, **__: pytest.fail("trained"))


@dataclass(frozen=True)
class Minimises(Engine):
    """A user's own engine that minimises: two members, kept at their warm starts."""

    needs_likelihood = False

    def run(self, key, problem, stage):
        draws = jax.tree.map(lambda leaf: leaf[:, None], problem.warm_starts(self.num_starts))
        return Posterior(draws, np.zeros((self.num_starts, 1)), False, {})

    @property
    def num_starts(self):
        return 2


@dataclass(frozen=True)
class Follows(Engine):
    """A user's own engine that follows the gradient of a log posterior."""

    def run(self, key, problem, stage):
        pytest.fail("run")


@pytest.mark.parametrize("loss", ["beta_nll", "evidential"])
def test_an_engine_of_ones_own_that_minimises_takes_every_loss(loss, sine):
    prediction = quick_joint(loss=loss, inference=Minimises()).fit(*sine).predict_distribution(sine[0])
    assert prediction.draws.shape == (2, 60)
    assert np.isfinite(prediction.std).all()
    assert (prediction.epistemic_std > 0).all()


@pytest.mark.parametrize("loss", ["beta_nll", "evidential"])
def test_an_engine_of_ones_own_that_needs_a_likelihood_is_refused(loss, sine, monkeypatch):
    forbid_training(monkeypatch)
    sentence = f"'{loss}' is no likelihood, so Follows has no posterior to sample. Use loss=\"nll\""
    with pytest.raises(ValueError, match=sentence):
        quick_joint(loss=loss, inference=Follows()).fit(*sine)
    # With a likelihood it may sample.
    assert quick_joint(loss="nll", inference=Follows())._strategy(60).engine == Follows()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"loss": "mae"}, "`loss` must be one of 'mse', 'nll', .*. Got 'mae'"),
        ({"beta": 1.5}, r"`beta` must be a number in \[0, 1\]. Got 1.5"),
        ({"beta": "half"}, "`beta` must be a number"),
        ({"evidence_penalty": -1}, r"`evidence_penalty` must be a number in \[0, inf\)"),
        ({"variance_head": "own"}, "`variance_head` must be one of 'shared', 'separate', 'constant'"),
        ({"inference": "hmc"}, "`inference` must be one of 'ensemble', .*'map'. Got 'hmc'"),
        ({"training": 100}, r"`training` must be a Training\(...\) or None. Got 100"),
        ({"learning_rates": 1e-3}, "`learning_rates` must be a tuple of numbers such as"),
        ({"learning_rates": (1e-3, 0)}, "`learning_rates` must be a number in"),
        ({"weight_decay": -1}, "`weight_decay` must be a number in"),
        ({"prior_precision": 0}, "`prior_precision` must be a number in"),
        ({"validation_fraction": 1}, r"`validation_fraction` must be a number in \(0, 1\)"),
        ({"checkpoint": "x", "random_state": None}, "`checkpoint` needs a `random_state`"),
        ({"noise_std": 1.0}, "`noise_std` is for loss=\"mse\".* Got loss='nll', which learns it"),
        ({"loss": "mse", "noise_std": 0}, "`noise_std` must be a positive number.* Got 0"),
        ({"loss": "mse", "noise_std": np.nan}, "`noise_std` must be a positive number"),
        ({"loss": "mse", "noise_std": "low"}, "`noise_std` must be a positive number.* Got 'low'"),
        ({"loss": "mse", "noise_std": ()}, "`noise_std` must be a positive number"),
        ({"loss": "mse", "noise_std": (1, 2, 3)}, "one for each of the 1 targets"),
        ({"network": 3}, "`network` must be a recipe such as"),
        ({"inference": "mc_dropout"}, "MC dropout needs a network with dropout"),
    ],
)
def test_wrong_arguments_get_a_sentence_before_training(change, sentence, sine, monkeypatch):
    forbid_training(monkeypatch)
    with pytest.raises((ValueError, TypeError), match=sentence):
        quick_joint(**change).fit(*sine)


def test_evidential_refuses_measurement_errors(sine, monkeypatch):
    forbid_training(monkeypatch)
    with pytest.raises(ValueError, match=r"cannot use known measurement errors. Got `y_std`"):
        quick_joint(loss="evidential").fit(*sine, y_std=np.ones(60))
