"""Joint methods: every loss, and constant noise."""

import equinox as eqx
import jax
import numpy as np
import pytest

from tests.support.settings import BRIEF, Stay, quick_joint
from vebnn import MAP, MLP, Ensemble, JointRegressor, Training
from vebnn.strategies.joint import LOSSES
from vebnn.training.checkpoint import Checkpoint

pytestmark = pytest.mark.usefixtures("quick_compilation")

TRIO = Ensemble(3, BRIEF)


@pytest.fixture(scope="module")
def trios(held):
    """Return a small ensemble for every loss."""
    return {loss: quick_joint(loss=loss, inference=TRIO).fit(**held) for loss in LOSSES}


@pytest.fixture(params=LOSSES)
def trio(request, trios):
    return trios[request.param]


@pytest.fixture(scope="module")
def plain(sine):
    return quick_joint().fit(*sine)


def test_a_plain_network_is_an_ensemble_of_one_to_the_bit(plain, sine):
    X, y = sine
    one = plain.predict_distribution(X)
    same = quick_joint(inference=Ensemble(1, BRIEF)).fit(X, y).predict_distribution(X)
    for part in ("mean", "aleatoric_variance", "epistemic_variance", "std"):
        np.testing.assert_array_equal(getattr(one, part), getattr(same, part))
        assert np.isfinite(getattr(one, part)).all()
    assert (one.epistemic_variance == 0).all()
    np.testing.assert_array_equal(one.std, one.aleatoric_std)


def test_a_plain_network_by_hand(plain, sine):
    X, y = sine
    layers = plain.fitted_.posterior.draws.weights
    weights, biases = (
        [np.asarray(leaf[0, 0], float) for leaf in leaves] for leaves in (layers.weights, layers.biases)
    )
    hidden = np.tanh((X - X.mean(0)) / X.std(0) @ weights[0].T + biases[0])
    raw = hidden @ weights[1].T + biases[1]
    prediction = plain.predict_distribution(X)
    np.testing.assert_allclose(prediction.mean, y.mean() + y.std() * raw[:, 0], rtol=1e-4)
    noise_std = y.std() * np.sqrt(np.log1p(np.exp(raw[:, 1])))
    np.testing.assert_allclose(prediction.aleatoric_std, noise_std, rtol=1e-4)


def test_aleatoric_and_epistemic_variance_add_up(trio, sine):
    prediction = trio.predict_distribution(sine[0])
    np.testing.assert_allclose(
        prediction.std**2, prediction.aleatoric_std**2 + prediction.epistemic_std**2, rtol=1e-12
    )
    assert (prediction.aleatoric_std > 0).all()
    assert (prediction.epistemic_std > 0).all()


def test_the_mixture_has_the_moments_of_the_prediction(trio, sine):
    # Law of total variance: mean over draws of their variances + variance over draws of their means.
    prediction = trio.predict_distribution(sine[0])
    mean, variance, weight = prediction.components
    assert mean.shape == (3, 1, 60)
    np.testing.assert_array_equal(weight, 1)
    np.testing.assert_allclose(mean.mean((0, 1)), prediction.mean, rtol=1e-5)
    total = np.broadcast_to(variance, mean.shape).mean((0, 1)) + mean.var((0, 1))
    np.testing.assert_allclose(total, prediction.variance, rtol=1e-4)


def test_epistemic_variance_is_between_members_plus_that_of_each_member(trio, sine):
    prediction = trio.predict_distribution(sine[0])
    between = prediction.draws.var(0)
    if trio.loss == "evidential":
        assert (prediction.epistemic_variance > 1.01 * between).all()
        noise = prediction.modes.aleatoric_std
        np.testing.assert_array_equal(noise[0], prediction.aleatoric_std)
    else:
        np.testing.assert_allclose(prediction.epistemic_variance, between, rtol=1e-3, atol=1e-6)


def test_saved_models_predict_the_same_bits(trio, sine, tmp_path):
    trio.save(tmp_path / "model")
    loaded = JointRegressor.load(tmp_path / "model")
    assert loaded.get_params() == trio.get_params()
    here, there = trio.predict_distribution(sine[0]), loaded.predict_distribution(sine[0])
    for part in ("mean", "aleatoric_variance", "epistemic_variance", "draws"):
        np.testing.assert_array_equal(getattr(here, part), getattr(there, part))


@pytest.fixture(scope="module")
def line():
    """Return inputs and targets with constant noise, and the fit of least squares."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    y = 5 + X @ [3.0, -2.0] + rng.normal(0, 1.5, 80)
    design = np.column_stack([X, np.ones(80)])
    expected = design @ np.linalg.lstsq(design, y)[0]
    return X, y, expected, np.mean((y - expected) ** 2)


def linear_joint(**changes):
    last_epoch = MAP(Training(6_000, learning_rate=1e-2))
    return quick_joint(network=MLP(()), inference=last_epoch, prior_precision=1e-8, **changes)


@pytest.mark.parametrize("loss", ["nll", "natural"])
def test_a_linear_network_is_least_squares(loss, line, tmp_path):
    X, y, expected, residual_variance = line
    model = linear_joint(loss=loss, variance_head="constant")
    prediction = model.fit(X, y).predict_distribution(X)
    np.testing.assert_allclose(prediction.mean, expected, atol=0.02)
    np.testing.assert_allclose(prediction.aleatoric_variance, residual_variance, rtol=2e-3)
    # Known measurement errors are not learned again, and come back with a new measurement.
    model.fit(X, y, y_std=np.full(80, 0.6))
    learned = model.predict_distribution(X).aleatoric_variance
    np.testing.assert_allclose(learned, residual_variance - 0.36, rtol=2e-3)
    measured = model.predict_distribution(X, y_std=np.full(80, 0.6))
    np.testing.assert_allclose(measured.aleatoric_variance, learned + 0.36, rtol=1e-12)
    np.testing.assert_allclose(measured.components.variance[0, 0], learned + 0.36, rtol=1e-6)
    model.save(tmp_path / "model")
    loaded = JointRegressor.load(tmp_path / "model").predict_distribution(X)
    np.testing.assert_array_equal(loaded.aleatoric_variance, learned)


def test_a_head_that_may_vary_finds_noise_that_does_not(line):
    X, y, expected, residual_variance = line
    prediction = linear_joint(variance_head="shared").fit(X, y).predict_distribution(X)
    # Off by what eighty rows leave open: 1.5/√80 is the standard error of a mean.
    np.testing.assert_allclose(prediction.mean, expected, atol=1.5 / np.sqrt(80))
    assert prediction.aleatoric_variance.mean() == pytest.approx(residual_variance, rel=0.02)
    np.testing.assert_allclose(prediction.aleatoric_variance, residual_variance, rtol=0.5)


def test_constant_noise_is_the_squared_residual_of_rows_not_trained_on(sine):
    X, y = sine
    rng = np.random.default_rng(2)
    weight, y_std = rng.choice([0.0, 1.0, 3.0], 60), rng.uniform(0, 1, 60)
    engine = Stay()
    model = quick_joint(loss="mse", inference=engine).fit(X, y, weight, y_std=y_std)
    (problem,) = engine.problems
    counted = np.flatnonzero(weight)
    rows = counted[problem.validation_rows]
    assert len(rows) == round(0.2 * len(counted))
    beyond = (y[rows] - model.predict(X[rows])) ** 2 - y_std[rows] ** 2
    found = model.predict_distribution(X).aleatoric_variance
    np.testing.assert_allclose(found, np.average(beyond, weights=weight[rows]), rtol=1e-4)
    # The engine is given the learned and the known noise.
    noise = problem.data.known_variance[:, 0] * model.y_units_.scale**2
    np.testing.assert_allclose(noise, found[counted] + y_std[counted] ** 2, rtol=1e-4)


def test_an_output_that_no_watched_row_observes_has_noise_from_all_rows(sine):
    X, y = sine
    both = np.column_stack([y, y + np.random.default_rng(4).normal(0, 0.3, len(y))])
    engine, network = Stay(), eqx.nn.MLP(2, 2, 8, 1, key=jax.random.key(0))
    model = quick_joint(loss="mse", inference=engine, network=network).fit(X, both)
    # The same rows are watched again, now without their second target.
    both[engine.problems[0].validation_rows, 1] = np.nan
    model.fit(X, both)
    beyond = (both[:, 1] - model.predict(X)[:, 1]) ** 2
    found = model.predict_distribution(X).aleatoric_variance[:, 1]
    np.testing.assert_allclose(found, np.nanmean(beyond), rtol=1e-4)


def test_constant_noise_from_rows_that_are_held_out(held):
    model = quick_joint(loss="mse", inference=Stay()).fit(**held)
    expected = np.mean((held["y_val"] - model.predict(held["X_val"])) ** 2)
    found = model.predict_distribution(held["X"]).aleatoric_variance
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize("noise_std", [2.5, (2.5, 0.1), np.array([2.5, 0.1]), [0.2, 0.3]])
def test_noise_that_is_known_is_reported_and_used(noise_std, sine, tmp_path):
    X, y = sine
    engine = Stay()
    model = quick_joint(loss="mse", noise_std=noise_std, inference=engine)
    model.fit(X, np.column_stack([y, y / 50]))
    found = model.predict_distribution(X).aleatoric_std
    np.testing.assert_allclose(found, np.broadcast_to(noise_std, (60, 2)), rtol=1e-6)
    used = np.sqrt(engine.problems[0].data.known_variance) * model.y_units_.scale
    np.testing.assert_allclose(used, np.broadcast_to(noise_std, (60, 2)), rtol=1e-6)
    model.save(tmp_path / "model")
    loaded = JointRegressor.load(tmp_path / "model", inference=engine)
    np.testing.assert_array_equal(loaded.predict_distribution(X).aleatoric_std, found)


def test_an_interrupted_fit_is_resumed(trios, held, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:

        def interrupted(self, *arguments):
            self._unwritten = arguments[:2]
            raise KeyboardInterrupt

        patch.setattr(Checkpoint, "report", interrupted)
        with pytest.raises(KeyboardInterrupt):
            quick_joint(inference=TRIO, checkpoint=tmp_path / "c").fit(**held)
    assert [path.name for path in (tmp_path / "c").iterdir()] == ["inference.stage.safetensors"]
    resumed = quick_joint(inference=TRIO, checkpoint=tmp_path / "c").fit(**held)
    np.testing.assert_array_equal(resumed.predict(held["X"]), trios["nll"].predict(held["X"]))
