"""Sequences from padding to prediction: padding changes nothing."""

import jax
import numpy as np
import pytest
from sklearn.base import clone

from vebnn import GRU, PSGLD, JointRegressor, MCDropout, Training, VeBNNRegressor
from vebnn.estimators.preprocessing import pad_sequences

SHORT = Training(num_epochs=25, learning_rate=1e-2)
SETTINGS = {
    "network": GRU((6, 5)),
    "variance_network": GRU((3,)),
    "mean_training": SHORT,
    "variance_training": SHORT,
    "inference": PSGLD(num_samples=10, burn_in=10, thinning=1, num_chains=2),
    "residuals": "cross_fit",
    "rounds": 2,
    "num_folds": 2,
    "random_state": 0,
}
pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains have not mixed"),
    pytest.mark.usefixtures("quick_compilation"),
]


@pytest.fixture(scope="module")
def whole() -> tuple[np.ndarray, np.ndarray]:
    """Running sums with noise, all of one length."""
    rng = np.random.default_rng(0)
    X = rng.normal(3, 2, (16, 8, 2))
    return X, np.cumsum(X, axis=1) @ [[1.0, 0.0], [-1.0, 5.0]] + rng.normal(size=(16, 8, 2))


@pytest.fixture(scope="module")
def padded(whole) -> tuple[np.ndarray, np.ndarray]:
    """The same, cut to unequal lengths; the longest has all eight steps."""
    lengths = [8, 3, 5, 6, 4, 7, 8, 2, 5, 3, 6, 7, 4, 8, 5, 6]
    X, y = whole
    cut = [[part[:length] for part, length in zip(all_, lengths, strict=True)] for all_ in (X, y)]
    return pad_sequences(cut[0]), pad_sequences(cut[1])


@pytest.fixture(scope="module")
def model(padded) -> VeBNNRegressor:
    # The fixture for tests has not begun yet.
    jax.config.update("jax_disable_most_optimizations", True)
    with pytest.warns(match="The chains have not mixed"):
        return VeBNNRegressor(**SETTINGS).fit(*padded)


def joint(**changes) -> JointRegressor:
    return JointRegressor(GRU((6, 5)), training=SHORT, random_state=0, **changes)


def test_predictions_have_every_step_and_nan_for_padding(model, padded):
    X, y = padded
    p = model.predict_distribution(X)
    for part in (p.mean, p.aleatoric_std, p.epistemic_std, p.interval()[1], p.draws[0], p.sample()[0]):
        assert part.shape == y.shape
        np.testing.assert_array_equal(np.isnan(part), np.isnan(y))
    np.testing.assert_allclose(p.variance, p.aleatoric_variance + p.epistemic_variance)


def test_the_values_that_pad_change_nothing(model, padded):
    X, y = padded
    padding = np.isnan(y)
    weight = 1.0 - padding.any(-1)
    other = VeBNNRegressor(**SETTINGS).fit(
        np.where(padding, 1e6, X), np.where(padding, -1e9, y), sample_weight=weight
    )
    assert other.rounds_ == model.rounds_
    np.testing.assert_array_equal(other.diagnostics_.r_hat, model.diagnostics_.r_hat)
    for units in ("x_units_", "y_units_"):
        np.testing.assert_array_equal(getattr(other, units), getattr(model, units))
    one, two = (some.predict_distribution(X) for some in (model, other))
    np.testing.assert_array_equal(one.mean, two.mean)
    np.testing.assert_array_equal(one.variance, two.variance)
    # A target that counts does change it.
    y = y.copy()
    y[0, 7] += 1
    assert VeBNNRegressor(**SETTINGS).fit(X, y).rounds_ != model.rounds_


@pytest.mark.parametrize("make", [lambda: VeBNNRegressor(**SETTINGS), joint], ids=["vebnn", "joint"])
def test_padding_all_sequences_is_no_padding(make, whole):
    X, y = whole
    longer = [np.pad(part, [(0, 0), (0, 5), (0, 0)], constant_values=np.nan) for part in whole]
    y_std = np.full_like(y, 0.3)
    y_std[3] = 1.0
    longer_std = np.pad(y_std, [(0, 0), (0, 5), (0, 0)], constant_values=np.nan)
    held = {"X_val": X[12:], "y_val": y[12:], "y_std_val": y_std[12:]}
    longer_held = {"X_val": longer[0][12:], "y_val": longer[1][12:], "y_std_val": longer_std[12:]}
    one = make().fit(X[:12], y[:12], y_std=y_std[:12], **held)
    two = make().fit(longer[0][:12], longer[1][:12], y_std=longer_std[:12], **longer_held)
    np.testing.assert_allclose(two.x_units_.scale, one.x_units_.scale, rtol=1e-12)
    for some, rows in ((one, held), (two, longer_held)):
        some.calibrate(rows["X_val"], rows["y_val"], y_std=rows["y_std_val"])
    np.testing.assert_allclose(two.calibration_.factors, one.calibration_.factors, rtol=5e-3)
    for name in ("mean", "aleatoric_std", "std"):
        mine, theirs = (getattr(some.predict_distribution(X), name) for some in (one, two))
        np.testing.assert_allclose(theirs, mine, rtol=2e-3)
    if isinstance(one, VeBNNRegressor):
        mine, theirs = (np.array(some.rounds_[-1][1:3], float) for some in (one, two))
        np.testing.assert_allclose(theirs, mine, rtol=1e-3)


def test_units_are_those_of_all_steps_that_count(model, padded):
    X, y = padded
    np.testing.assert_allclose(model.y_units_.centre, np.nanmean(y, axis=(0, 1)))
    np.testing.assert_allclose(model.y_units_.scale, np.nanstd(y, axis=(0, 1)))
    np.testing.assert_allclose(model.x_units_.scale, np.nanstd(X, axis=(0, 1)))


def test_only_steps_that_count_are_diagnosed(model, padded):
    assert model.diagnostics_.r_hat.size == np.isfinite(padded[1]).sum()


def test_new_sequences_may_be_shorter_and_longer(model, whole):
    X, _ = whole
    all_steps = model.predict_distribution(X)
    start = model.predict_distribution(X[:, :3])
    np.testing.assert_allclose(start.mean, all_steps.mean[:, :3], rtol=1e-4)
    np.testing.assert_allclose(start.std, all_steps.std[:, :3], rtol=1e-4)
    assert model.predict(np.tile(X, (1, 2, 1))).shape == (16, 16, 2)


def test_saved_models_predict_the_same(model, padded, tmp_path):
    model.save(tmp_path / "model")
    loaded = VeBNNRegressor.load(tmp_path / "model")
    assert loaded.network == GRU((6, 5))
    np.testing.assert_array_equal(loaded.predict(padded[0]), model.predict(padded[0]))
    np.testing.assert_array_equal(loaded.predict(padded[0][:, :4]), model.predict(padded[0][:, :4]))
    np.testing.assert_array_equal(loaded.diagnostics_.r_hat, model.diagnostics_.r_hat)


def test_clones_are_not_fitted_and_interrupted_fits_are_resumed(model, padded, tmp_path, monkeypatch):
    again = clone(model).set_params(checkpoint=tmp_path / "stages")
    assert not hasattr(again, "fitted_")
    assert again.network == model.network

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("vebnn.strategies.cooperative.steps.train_variance", interrupted)
        with pytest.raises(KeyboardInterrupt):
            again.fit(*padded)
    assert list((tmp_path / "stages").iterdir())
    np.testing.assert_array_equal(again.fit(*padded).predict(padded[0]), model.predict(padded[0]))


def test_mc_dropout_draws_masks_of_a_gru(padded, tmp_path):
    network = GRU((8,), dropout_rate=0.3)
    engine = MCDropout(num_samples=6, training=SHORT)
    model = joint(inference=engine).set_params(network=network).fit(*padded)
    draws = model.predict_distribution(padded[0]).draws
    assert len(np.unique(draws[:, 0, 0, 0])) > 1
    model.save(tmp_path / "model")
    same = JointRegressor.load(tmp_path / "model").predict_distribution(padded[0]).draws
    np.testing.assert_array_equal(same, draws)
    with pytest.raises(ValueError, match="MC dropout needs a network with dropout"):
        joint(inference=engine).fit(*padded)


def test_the_noise_of_a_gru_is_learned_by_a_gru():
    strategy = VeBNNRegressor(GRU((32,)))._strategy(10)
    assert strategy.variance_network == GRU((8,), prior="learned")
    assert (strategy.residuals, strategy.rounds) == ("posterior", None)
    assert strategy.variance_engine is not None
    # One network cannot learn the scales of its own prior.
    strategy = VeBNNRegressor(GRU((32,)), inference="ensemble")._strategy(10)
    assert strategy.variance_network == GRU((8, 8))
    assert (strategy.residuals, strategy.variance_engine) == ("cross_fit", None)


def test_learned_scales_of_both_networks_are_saved(padded, tmp_path):
    X, y = padded
    few = PSGLD(num_samples=4, burn_in=4, thinning=1, num_chains=2)
    settings = {"residuals": None, "rounds": 1, "variance_inference": few, "variance_network": None}
    network = GRU((4,), prior="learned")
    model = VeBNNRegressor(**SETTINGS | settings | {"network": network}).fit(X, y)
    draws = model.fitted_.posterior.draws.weights
    assert draws.scales.inputs.shape == (2, 10, 2)
    assert model.fitted_.noise.draws.weights.scales.inputs.shape == (8, 2)
    model.save(tmp_path / "model")
    loaded = VeBNNRegressor.load(tmp_path / "model")
    assert loaded.network == network
    mine, theirs = (some.predict_distribution(X) for some in (model, loaded))
    np.testing.assert_array_equal(theirs.mean, mine.mean)
    np.testing.assert_array_equal(theirs.aleatoric_std, mine.aleatoric_std)


def _holes(X, y):
    X, y = X.copy(), y.copy()
    X[2, 3, 1] = np.nan
    return X, y


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_holes, r"NaN only in the padding at the end of a sequence.*Got NaN in X\[2, 3\]"),
        (lambda X, y: (X, y * [1, np.nan]), r"Every output of `y` needs at least one number"),
        (
            lambda X, y: (X, y[..., 0]),
            r"For one target at every step, y must have shape \(rows, time, 1\)",
        ),
        (lambda X, y: (X, y, np.ones((16, 3))), r"must be \(16,\), \(16, 8\) or .*Got \(16, 3\)"),
        (lambda X, y: (X, y, np.zeros((16, 8))), r"must be non-negative, and not all zero"),
        (lambda X, y: (X[:, 0], y[:, 0]), r"A GRU takes sequences"),
    ],
)
def test_bad_sequences(change, sentence, whole):
    with pytest.raises(ValueError, match=sentence):
        VeBNNRegressor(**SETTINGS).fit(*change(*whole))


def test_bad_new_sequences(model, whole):
    X, y = whole
    with pytest.raises(ValueError, match=r"shape \(rows, 8, 2\), as in fit\. Got \(16, 8, 1\)"):
        model.predict(X[..., :1])
    with pytest.raises(ValueError, match=r"only as padding.*Got NaN in X\[2, 3\]"):
        model.predict(_holes(X, y)[0])
    with pytest.raises(
        ValueError, match=r"`X_val` must have the shape of X but for the rows, \(8, 2\)"
    ):
        VeBNNRegressor(**SETTINGS).fit(X, y, X_val=X[:, :4], y_val=y[:, :4])
