"""Estimators of targets that are not real: what is learned, what is predicted, what is refused."""

import numpy as np
import pandas
import pytest

from tests.support.settings import QUICK, quick, quick_joint, quick_mixture
from vebnn import GRU, JointRegressor, Training, VeBNNRegressor
from vebnn.estimators.target_kinds import transform
from vebnn.metrics import coverage

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]

TRAINED, NEW = slice(0, 60), slice(60, 120)
LONG = Training(num_epochs=1_000, learning_rate=1e-2, patience=200)
SMALL = QUICK | {"num_folds": 2, "rounds": 1}


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(3)
    X = rng.uniform(-2, 2, (120, 1))
    z = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(120)
    counts = rng.poisson(np.exp(1 + z)).astype(float)
    return X, {"positive": 1e5 * np.exp(z), "fraction": 1 / (1 + np.exp(-z)), "count": counts}


@pytest.fixture(scope="module")
def fitted(rows) -> dict[str, VeBNNRegressor]:
    X, targets = rows
    return {
        kind: quick(**SMALL, target=kind).fit(X[TRAINED], y[TRAINED]) for kind, y in targets.items()
    }


@pytest.mark.parametrize("kind", ["positive", "fraction", "count"])
def test_it_is_the_model_of_the_transformed_target(rows, fitted, kind) -> None:
    X, targets = rows
    model, y = fitted[kind], targets[kind]
    z = transform(y[:, None], model.target_kinds_)[:, 0]
    other = quick(**SMALL).fit(X[TRAINED], z[TRAINED]).predict_distribution(X[NEW])
    p = model.predict_distribution(X[NEW])
    np.testing.assert_array_equal(p.law.transformed.mean, other.mean)
    np.testing.assert_array_equal(p.law.transformed.variance, other.variance)
    mean, std = model.predict(X[NEW], return_std=True)
    np.testing.assert_array_equal(mean, p.mean)
    np.testing.assert_allclose(std**2, p.aleatoric_std**2 + p.epistemic_std**2)
    # The mean of the draws is that of their Gaussian, but for the shape of 40 draws.
    np.testing.assert_allclose(p.draws.mean(0), p.mean, rtol=0.02)


@pytest.mark.parametrize("kind", ["positive", "fraction", "count"])
@pytest.mark.parametrize("method", ["common", "separate", "conformal"])
def test_calibrated_ranges_stay_possible(rows, fitted, kind, method) -> None:
    X, targets = rows
    y, model = targets[kind], fitted[kind]
    try:
        model.calibrate(X[NEW], y[NEW], method)
        p = model.predict_distribution(X[NEW])
        lower, upper = p.interval(0.95)
        assert model.target_kinds_[0].allows(np.stack([lower, upper])).all()
        raw = model.predict_distribution(X[NEW], calibrated=False)
        if method != "conformal":
            assert not np.allclose(p.std, raw.std)
        if method != "separate":
            assert coverage(y[NEW], lower, upper) >= 0.95
    finally:
        model.calibration_ = None


def test_saved_models_keep_their_kind(rows, fitted, tmp_path) -> None:
    X, targets = rows
    model = fitted["count"].calibrate(X[NEW], targets["count"][NEW])
    model.save(tmp_path / "m")
    again = VeBNNRegressor.load(tmp_path / "m")
    assert again.target == "count"
    now, then = (one.predict_distribution(X[NEW]) for one in (again, model))
    for name in ("mean", "aleatoric_variance", "epistemic_variance"):
        np.testing.assert_array_equal(getattr(now, name), getattr(then, name))
    np.testing.assert_array_equal(now.interval(0.9), then.interval(0.9))
    model.calibration_ = None


def test_a_later_argument_does_not_change_a_fitted_model(rows, fitted) -> None:
    X, _ = rows
    model = fitted["positive"]
    before = model.predict(X[NEW])
    model.set_params(target="real")
    np.testing.assert_array_equal(model.predict(X[NEW]), before)
    model.set_params(target="positive")


def test_outputs_may_be_of_different_kinds(rows, tmp_path) -> None:
    X, targets = rows
    kinds = ("real", "positive", "count")
    y = pandas.DataFrame({"z": X[:, 0], "price": targets["positive"], "visits": targets["count"]})
    model = quick_joint(target=kinds).fit(X[TRAINED], y.iloc[TRAINED])
    p = model.predict_distribution(X[NEW])
    lower = p.interval(0.999)[0]
    assert (lower[:, 0] < 0).any()
    assert (lower[:, 1:] >= 0).all()
    assert p.to_frame()["visits_upper"].map(float.is_integer).all()
    model.save(tmp_path / "m")
    assert JointRegressor.load(tmp_path / "m").target == kinds


def test_padded_sequences_have_kinds() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 5, 1))
    y = np.exp(X + 0.1 * rng.standard_normal(X.shape))
    X[0, 3:] = y[0, 3:] = np.nan
    model = quick_joint(network=GRU((4,)), target="positive").fit(X, y)
    p = model.predict_distribution(X)
    assert np.isnan(p.mean[0, 3:]).all()
    assert (p.interval(0.999)[0][1:] > 0).all()
    # An observation of padding has no density, not an impossible one.
    assert np.isnan(p.log_prob(y)[0, 3:]).all()


def test_known_errors_add_to_the_noise_by_the_delta_method(rows, fitted) -> None:
    X, _ = rows
    model = fitted["positive"]
    without = model.predict_distribution(X[NEW]).law.transformed
    y_std = 0.05 * np.exp(without.mean)  # 5 % of the median
    found = model.predict_distribution(X[NEW], y_std=y_std).law.transformed
    np.testing.assert_allclose(
        found.aleatoric_variance - without.aleatoric_variance, 0.05**2, rtol=1e-6
    )


def test_known_errors_of_training_rows_are_relative(rows) -> None:
    """Errors of a tenth of y are those of 0.1 of log y: to the last bit, as the noise is fitted."""
    X, targets = rows
    y = targets["positive"][TRAINED]
    known = np.full(60, 0.1)
    model = quick(**SMALL, target="positive").fit(X[TRAINED], y, y_std=known * y)
    other = quick(**SMALL).fit(X[TRAINED], np.log(y), y_std=known)
    np.testing.assert_allclose(
        model.predict_distribution(X[NEW]).quantile(0.5), np.exp(other.predict(X[NEW])), rtol=1e-3
    )


def test_joint_models_have_kinds(rows) -> None:
    X, targets = rows
    model = quick_joint(target="fraction").fit(X[TRAINED], targets["fraction"][TRAINED])
    lower, upper = model.predict_distribution(X[NEW]).interval(0.999)
    assert (lower > 0).all()
    assert (upper < 1).all()


@pytest.mark.parametrize("dispersion", [None, 2.0], ids=["Poisson", "negative binomial"])
def test_ranges_of_counts_cover(dispersion) -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, (2_400, 1))
    rate = np.exp(1 + np.sin(X[:, 0]))
    if dispersion is not None:
        rate = rate * rng.gamma(dispersion, 1 / dispersion, len(rate))
    y = rng.poisson(rate).astype(float)
    model = quick_joint(target="count", training=LONG).fit(X[:400], y[:400])
    p = model.predict_distribution(X[400:])
    lower, upper = p.interval(0.9)
    # Whole numbers cannot hold exactly 90 %: what the ranges promise is their mass in the model.
    promised = np.mean(p.cdf(upper) - p.cdf(lower - 1))
    assert promised >= 0.9
    # 2,000 rows: three standard errors are 0.02; the law is not exactly that of the data.
    assert coverage(y[400:], lower, upper) == pytest.approx(promised, abs=0.03)
    trained = model.predict_distribution(X[:400])
    assert np.mean(trained.mean) == pytest.approx(np.mean(y[:400]), rel=0.05)


@pytest.mark.parametrize(
    ("target", "value", "sentence"),
    [
        ("positive", 0.0, r'must be numbers above 0.*Got 0 in row 4, 1 such values.*kind "count"'),
        ("fraction", 35.0, r"must be numbers between 0 and 1.*Got 35 in row 4.*divide percent by 100"),
        ("fraction", 1.0, "without both ends"),
        ("count", 2.5, r"must be whole numbers, 0 or more.*Got 2.5"),
        ("count", -1.0, "Got -1 in row 4"),
    ],
)
def test_impossible_targets_are_refused_before_any_training(rows, target, value, sentence) -> None:
    X, targets = rows
    y = targets[target].copy()
    y[4] = value
    with pytest.raises(ValueError, match=sentence):
        VeBNNRegressor(target=target).fit(X, y)
    with pytest.raises(ValueError, match="`y_val` must be"):
        VeBNNRegressor(target=target).fit(X[NEW], targets[target][NEW], X_val=X, y_val=y)


def test_wrong_arguments_get_a_sentence(rows) -> None:
    X, targets = rows
    y = targets["positive"]
    for target, sentence in (
        ("log", "`target` must be"),
        ((), "Got none"),
        (("positive", "real"), "one for each of the 1 outputs"),
    ):
        with pytest.raises(ValueError, match=sentence):
            VeBNNRegressor(target=target).fit(X, y)
    with pytest.raises(ValueError, match="takes real targets"):
        quick_mixture(target="positive").fit(X, y)
    with pytest.raises(ValueError, match="`noise_std` is constant in the units of y"):
        quick_joint(target="positive", loss="mse", noise_std=0.1).fit(X, y)
    with pytest.raises(ValueError, match='a target of the kind "count" is counted'):
        VeBNNRegressor(target="count").fit(X, targets["count"], y_std=np.ones(120))
