"""Missing values in X: what is learned, predicted, explained, saved and refused."""

import json

import equinox as eqx
import jax
import numpy as np
import pandas
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags

from tests.support.settings import QUICK, quick, quick_joint
from vebnn import GRU, MLP, JointRegressor, ResNet, VeBNNRegressor
from vebnn.estimators.gaps import Gaps

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]

NAMES = ["heat", "time", "load"]
SMALL = QUICK | {"num_folds": 2, "rounds": 1, "network": MLP((8,), "tanh", prior="learned")}


def some_rows() -> tuple[np.ndarray, np.ndarray]:
    """Return rows whose target depends on a feature, and on whether another is missing."""
    rng = np.random.default_rng(2)
    X = rng.normal([3, 0, 100], 1, (80, 3))
    missing = rng.random(80) < 0.3
    y = X[:, 0] + 4 * missing + 0.1 * rng.standard_normal(80)
    X[missing, 1] = np.nan
    X[5, 2] = np.nan
    return X, y


def filled(X: np.ndarray, medians: np.ndarray) -> np.ndarray:
    """Return medians for NaN, and marks of features 1 and 2, one by one."""
    rows = []
    for row in X:
        values = [m if np.isnan(x) else x for x, m in zip(row, medians, strict=True)]
        rows.append([*values, float(np.isnan(row[1])), float(np.isnan(row[2]))])
    return np.array(rows)


def by_hand(X: np.ndarray) -> np.ndarray:
    return np.array([np.median(column[~np.isnan(column)]) for column in X.T])


@pytest.fixture(scope="module")
def model(quick_compilation) -> VeBNNRegressor:
    X, y = some_rows()
    return quick(**SMALL).fit(pandas.DataFrame(X, columns=NAMES), y)


def test_it_is_the_model_of_filled_rows_with_marks() -> None:
    X, y = some_rows()
    other = quick_joint().fit(filled(X, by_hand(X)), y)
    model = quick_joint().fit(X, y)
    new = np.array([[2.0, np.nan, np.nan], [2.0, 1.0, 99.0]])
    p, expected = model.predict_distribution(new), other.predict_distribution(filled(new, by_hand(X)))
    np.testing.assert_array_equal(p.mean, expected.mean)
    np.testing.assert_array_equal(p.variance, expected.variance)
    assert model.n_features_in_ == 3


def test_a_gap_that_is_new_becomes_the_median_with_a_warning() -> None:
    X, y = some_rows()
    model = quick_joint().fit(X, y)
    with pytest.warns(UserWarning, match=r"features \[0\], which had none in training"):
        found = model.predict([[np.nan, 1.0, 99.0]])
    np.testing.assert_array_equal(found, model.predict([[np.median(X[:, 0]), 1.0, 99.0]]))
    with pytest.raises(ValueError, match="infinity"):
        model.predict([[np.inf, 1.0, 99.0]])


def test_rows_without_gaps_get_no_marks() -> None:
    X, y = some_rows()
    whole = np.nan_to_num(X)
    model = quick_joint().fit(whole, y)
    assert model.gaps_ == Gaps(tuple(np.median(whole, axis=0)))
    assert model.fitted_.probe_x.shape[1] == 3


def test_rows_of_no_weight_and_held_out_rows() -> None:
    X, y = some_rows()
    weight = np.ones(80)
    weight[:10] = 0
    first = X.copy()
    first[3, 0] = np.nan  # of no weight: neither a mark nor a warning
    one = quick_joint().fit(first, y, sample_weight=weight)
    two = quick_joint().fit(X[10:], y[10:])
    assert one.gaps_ == two.gaps_
    assert one.gaps_.marked == (1,)  # the gap of feature 2 is in row 5
    np.testing.assert_allclose(one.predict(X[10:]), two.predict(X[10:]), rtol=1e-12)
    held = quick_joint().fit(X[:60], y[:60], X_val=X[60:], y_val=y[60:]).calibrate(X[60:], y[60:])
    assert np.isfinite(held.predict_distribution(X).std).all()


def test_saved_models_hold_medians_and_marks(model, tmp_path) -> None:
    X, _ = some_rows()
    frame = pandas.DataFrame(X, columns=NAMES)
    model.save(tmp_path / "m")
    again = VeBNNRegressor.load(tmp_path / "m")
    assert again.gaps_ == model.gaps_
    now, then = again.predict_distribution(frame), model.predict_distribution(frame)
    np.testing.assert_array_equal(now.mean, then.mean)
    np.testing.assert_array_equal(now.variance, then.variance)
    saved = json.loads((tmp_path / "m" / "model.json").read_text())
    np.testing.assert_array_equal(saved["model"]["gaps"]["medians"], by_hand(X))


def test_marks_belong_to_their_feature(model) -> None:
    """Only the mark of "time" matters, so its effect is that of the mark: std of 4 · {0, 1}."""
    X, y = some_rows()
    assert model.relevance_.names == tuple(NAMES)
    assert model.relevance_.members == ((0,), (1, 3), (2, 4))
    missing = np.isnan(X[:, 1])
    effect = model.relevance_.effect.mean * y.std()
    np.testing.assert_allclose(effect[1], 4 * missing.std(), rtol=0.15)
    np.testing.assert_allclose(effect[0], X[:, 0].std(), rtol=0.15)
    assert effect[2] < 0.5
    pairs = model.relevance_.combined({"two": (1, 2), "one": (0,)})
    assert pairs.members == ((1, 3, 2, 4), (0,))

    frame = pandas.DataFrame(X, columns=NAMES)
    found = model.explain(frame)
    assert found.features == tuple(NAMES)
    total = found.mean.base + found.mean.values.sum(1)
    np.testing.assert_allclose(total, model.predict(frame), rtol=1e-4)
    gap = found.mean.values[missing, 1].mean() - found.mean.values[~missing, 1].mean()
    assert abs(gap - 4) < 0.6
    groups = model.explain(frame[:2], groups={"two": (1, 2), "one": (0,)})
    np.testing.assert_allclose(groups.mean.values.sum(1), found.mean.values[:2].sum(1), rtol=1e-3)


def test_cross_validation_accepts_rare_gaps() -> None:
    X, y = some_rows()
    model = quick_joint()
    assert get_tags(model).input_tags.allow_nan
    assert get_tags(HistGradientBoostingRegressor()).input_tags.allow_nan
    with pytest.warns(UserWarning, match=r"features \[2\]"):
        assert np.isfinite(cross_val_score(model, X, y, cv=2)).all()


class Slopes(eqx.Module):
    """A network of the user's own, for three features."""

    slopes: jax.Array

    def __call__(self, x: jax.Array) -> jax.Array:
        return (self.slopes * x).sum(keepdims=True)


def test_what_cannot_be_filled_gets_a_sentence() -> None:
    X, y = some_rows()
    own = VeBNNRegressor(**QUICK | {"network": Slopes(jax.numpy.ones(3))})
    assert not get_tags(own).input_tags.allow_nan
    with pytest.raises(ValueError, match=r"network of your own.*Got some in row \d+; fill them first"):
        own.fit(X, y)
    empty = X.copy()
    empty[:, 1] = np.nan
    with pytest.raises(ValueError, match="Got NaN in all rows of feature 1; leave it out"):
        quick_joint().fit(empty, y)
    with pytest.raises(ValueError, match="infinity"):
        quick_joint().fit(np.where(np.isnan(X), np.inf, X), y)
    images = np.zeros((6, 8, 8, 1))
    images[2, 3] = np.nan
    with pytest.raises(ValueError, match=r"of sequences or images.*Got NaN in X\[2\]"):
        JointRegressor(network=ResNet(10, 4)).fit(images, np.arange(6.0))
    sequences = np.zeros((6, 4, 2))
    sequences[1, 1, 0] = np.nan
    with pytest.raises(ValueError, match=r"of sequences or images.*Got NaN in X\[1, 1\]"):
        JointRegressor(network=GRU((4,))).fit(sequences, np.zeros((6, 4, 1)))
