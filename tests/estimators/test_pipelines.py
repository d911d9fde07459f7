"""Distributions from scikit-learn's compositions."""

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from tests.support.settings import QUICK, quick, quick_joint
from vebnn import VeBNNRegressor, predict_distribution
from vebnn.prediction import crps

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]

SMALL = QUICK | {"num_folds": 2, "rounds": 1}
TRAINED, NEW = slice(0, 60), slice(60, 90)


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.uniform(-2, 2, (90, 2))
    return X, np.exp(1 + np.sin(X[:, 0]) + 0.3 * rng.standard_normal(90))


@pytest.fixture(scope="module")
def of_logarithms(rows) -> VeBNNRegressor:
    X, y = rows
    return quick(**SMALL).fit(X[TRAINED], np.log(y[TRAINED]))


@pytest.fixture(scope="module")
def through_logarithms(rows) -> TransformedTargetRegressor:
    X, y = rows
    model = TransformedTargetRegressor(quick(**SMALL), func=np.log, inverse_func=np.exp)
    return model.fit(X[TRAINED], y[TRAINED])


def with_inverse(fitted: VeBNNRegressor, transformer) -> TransformedTargetRegressor:
    """Return a composition whose regressor is fitted already."""
    model = TransformedTargetRegressor(fitted, transformer=transformer)
    model.regressor_, model.transformer_, model._training_dim = fitted, transformer, 1
    return model


def test_pipelines_transform_the_inputs(rows) -> None:
    X, y = rows
    frame = pandas.DataFrame(X, columns=["a", "b"]).assign(c=np.where(X[:, 1] > 0, "left", "right"))
    frame.index += 100
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), ["a", "b"]), ("categories", OneHotEncoder(), ["c"])]
    )
    pipeline = make_pipeline(columns, "passthrough", quick_joint()).fit(frame[TRAINED], y[TRAINED])
    p = predict_distribution(pipeline, frame[NEW], y_std=0.5)
    encoded = pipeline[0].transform(frame[NEW])
    expected = pipeline[-1].predict_distribution(encoded, y_std=0.5)
    np.testing.assert_array_equal(p.mean, expected.mean)
    np.testing.assert_array_equal(p.variance, expected.variance)
    assert (p.aleatoric_std >= 0.5).all()
    assert p.to_frame().index.tolist() == list(range(160, 190))
    mean, std = pipeline.predict(frame[NEW], return_std=True)
    without = predict_distribution(pipeline, frame[NEW])
    np.testing.assert_array_equal(mean, without.mean)
    np.testing.assert_array_equal(std, without.std)


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler((-5, 3)), RobustScaler()])
def test_linear_scalers_are_undone_exactly(rows, of_logarithms, scaler) -> None:
    X, y = rows
    scaler.fit(y[:, None])
    factor = np.ptp(y) / np.ptp(scaler.transform(y[:, None]))
    shift = float(scaler.inverse_transform([[0.0]])[0, 0])
    inner = of_logarithms.predict_distribution(X[NEW])
    p = predict_distribution(with_inverse(of_logarithms, scaler), X[NEW])
    np.testing.assert_allclose(p.mean, factor * inner.mean + shift)
    np.testing.assert_allclose(p.aleatoric_std, factor * inner.aleatoric_std)
    np.testing.assert_allclose(p.epistemic_std, factor * inner.epistemic_std)
    np.testing.assert_allclose(p.draws, factor * inner.draws + shift)
    z = (y[NEW] - shift) / factor
    for kind in ("gaussian", "mixture"):
        density = inner.log_prob(z, kind) - np.log(factor)
        np.testing.assert_allclose(p.log_prob(y[NEW], kind), density, rtol=1e-9)
        ends = np.array(inner.interval(0.9, kind)) * factor + shift
        np.testing.assert_allclose(p.interval(0.9, kind), ends, rtol=1e-9)


def test_falling_lines_are_undone_as_well(rows, of_logarithms) -> None:
    X, _ = rows
    negative = FunctionTransformer(np.negative, np.negative)
    inner = of_logarithms.predict_distribution(X[NEW])
    p = predict_distribution(with_inverse(of_logarithms, negative), X[NEW])
    np.testing.assert_allclose(p.interval(0.8)[0], -inner.interval(0.8)[1])
    np.testing.assert_allclose(p.std, inner.std)


def test_conformal_ranges_are_scaled(rows) -> None:
    X, y = rows
    model = quick_joint().fit(X[TRAINED], y[TRAINED]).calibrate(X[NEW], y[NEW], "conformal")
    scaler = StandardScaler().fit(100 * y[:, None])
    p = predict_distribution(with_inverse(model, scaler), X[NEW])
    ends = np.stack(model.predict_distribution(X[NEW]).interval(0.9))
    np.testing.assert_allclose(p.interval(0.9), scaler.scale_ * ends + scaler.mean_)
    raw = predict_distribution(with_inverse(model, scaler), X[NEW], calibrated=False)
    assert not np.allclose(raw.interval(0.9), p.interval(0.9))


def test_logarithms_are_the_kind_positive(rows, through_logarithms) -> None:
    """The same seed gives the same network of log(y), so all must agree with the closed forms."""
    X, y = rows
    positive = quick(**SMALL, target="positive").fit(X[TRAINED], y[TRAINED])
    p, expected = (
        predict_distribution(through_logarithms, X[NEW]),
        positive.predict_distribution(X[NEW]),
    )
    for name in ("mean", "aleatoric_std", "epistemic_std"):
        np.testing.assert_allclose(getattr(p, name), getattr(expected, name), rtol=1e-7)
    for kind in ("gaussian", "mixture"):
        for q in (0.025, 0.6):
            np.testing.assert_allclose(p.quantile(q, kind), expected.quantile(q, kind))
        np.testing.assert_allclose(p.log_prob(y[NEW], kind), expected.log_prob(y[NEW], kind), rtol=1e-6)
        np.testing.assert_allclose(p.cdf(y[NEW], kind), expected.cdf(y[NEW], kind), rtol=1e-9)
    np.testing.assert_allclose(p.draws, expected.draws, rtol=1e-7)
    np.testing.assert_allclose(crps(p, y[NEW]), crps(expected, y[NEW]), rtol=1e-6)
    impossible = -np.ones(30)
    assert (p.cdf(impossible) == 0).all()
    assert (p.log_prob(impossible) == -np.inf).all()
    assert (p.sample(100, random_state=0) > 0).all()


def test_several_targets_have_a_function_each(rows) -> None:
    X, y = rows
    both = np.column_stack([y, 3 * y])
    logarithms = FunctionTransformer(np.log, np.exp)
    model = TransformedTargetRegressor(quick_joint(), transformer=logarithms)
    p = predict_distribution(model.fit(X[TRAINED], both[TRAINED]), X[NEW])
    other = quick_joint(target="positive").fit(X[TRAINED], both[TRAINED]).predict_distribution(X[NEW])
    np.testing.assert_allclose(p.mean, other.mean, rtol=1e-7)
    np.testing.assert_allclose(p.interval(0.9), other.interval(0.9))
    np.testing.assert_allclose(p.log_prob(both[NEW]), other.log_prob(both[NEW]), rtol=1e-6)
    scaled = TransformedTargetRegressor(quick_joint(), transformer=MinMaxScaler())
    p = predict_distribution(scaled.fit(X[TRAINED], both[TRAINED]), X[NEW])
    inner = scaled.regressor_.predict_distribution(X[NEW])
    ranges = np.ptp(both[TRAINED], axis=0)
    np.testing.assert_allclose(p.epistemic_std, inner.epistemic_std * ranges)


def test_transformers_that_have_no_distribution_are_refused(rows, of_logarithms) -> None:
    X, y = rows
    refused = {
        "increasing": FunctionTransformer(lambda y: 1 / y, lambda z: 1 / (z + 100)),
        "not finite": FunctionTransformer(np.exp, np.log),
        "that falls": FunctionTransformer(np.sqrt, np.square),
    }
    for words, transformer in refused.items():
        with pytest.raises(ValueError, match=words):
            predict_distribution(with_inverse(of_logarithms, transformer), X[NEW])
    flat = QuantileTransformer(n_quantiles=20).fit(y[:, None])
    p = predict_distribution(with_inverse(of_logarithms, flat), X[NEW])
    assert (p.quantile(0.999) <= y.max()).all()
    both = np.column_stack([y, y**2])
    mixing = TransformedTargetRegressor(quick_joint(), transformer=PCA()).fit(X, both)
    with pytest.raises(ValueError, match=r"each output on its own.*PCA"):
        predict_distribution(mixing, X[NEW])
    positive = TransformedTargetRegressor(
        quick_joint(target="positive"), transformer=MinMaxScaler((1, 2))
    )
    with pytest.raises(ValueError, match='must be "real"'):
        predict_distribution(positive.fit(X, y), X[NEW])


def test_what_cannot_be_asked_gets_a_sentence(rows, through_logarithms) -> None:
    X, y = rows
    with pytest.raises(AttributeError, match=r"vebnn.predict_distribution\(model, X\).std"):
        through_logarithms.predict(X, return_std=True)
    with pytest.raises(ValueError, match="The `y_std` is in the units of y"):
        predict_distribution(through_logarithms, X, y_std=0.1)
    with pytest.raises(TypeError, match=r"an estimator of vebnn.*Got LinearRegression"):
        predict_distribution(make_pipeline(StandardScaler(), LinearRegression()).fit(X, y), X)


def test_searches_and_scores_work_in_pipelines(rows) -> None:
    X, y = rows
    model = TransformedTargetRegressor(
        make_pipeline(StandardScaler(), quick_joint()), func=np.log, inverse_func=np.exp
    )
    again = clone(model)
    assert again.regressor[-1].get_params() == model.regressor[-1].get_params()
    search = GridSearchCV(
        model, {"regressor__jointregressor__loss": ["nll", "mse"]}, cv=2, n_jobs=1
    ).fit(X[TRAINED], y[TRAINED])
    p = predict_distribution(search, X[NEW])
    best = search.best_estimator_
    inner = best.regressor_[-1].predict_distribution(best.regressor_[0].transform(X[NEW]))
    np.testing.assert_allclose(p.quantile(0.5), np.exp(inner.mean))
    np.testing.assert_allclose(search.predict(X[NEW]), np.exp(inner.mean))
    assert np.isfinite(cross_val_score(again, X[TRAINED], y[TRAINED], cv=2)).all()
