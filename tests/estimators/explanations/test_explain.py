"""Explanations of fitted models: in the user's units, with groups, targets and calibration."""

from itertools import permutations

import numpy as np
import pandas
import pytest

from tests.support.settings import Stay, quick, quick_joint
from vebnn import VeBNNRegressor
from vebnn.estimators import Explanation
from vebnn.estimators.explanations import OUTPUTS, Attribution

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]
NAMES = ["heat", "time", "load"]


def some_data() -> tuple[pandas.DataFrame, pandas.DataFrame]:
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(60, 3)) * [1, 1e3, 1e-2] + [5, 0, 1], columns=NAMES)
    wave = 40 + 8 * np.sin(X["heat"]) * (1 + X["time"] / 2e3) + rng.normal(0, 1, 60)
    return X, pandas.DataFrame({"stress": wave, "strain": 1e-3 * wave**2 + 2 * X["load"]})


@pytest.fixture(scope="module")
def model(quick_compilation) -> VeBNNRegressor:
    X, y = some_data()
    return quick().fit(X[:50], y[:50]).calibrate(X[50:], y[50:])


def test_values_are_the_mean_over_all_orders_of_predictions(model):
    """The definition, with the public predictions of mixtures in the user's units."""
    X, _ = some_data()
    row, background = X.iloc[3], X.iloc[10:14]
    mixtures = []
    for order in permutations(NAMES):
        mixed = background.copy()
        mixtures.append(mixed)
        for name in order:
            mixed = mixed.copy()
            mixed[name] = row[name]
            mixtures.append(mixed)
    prediction = model.predict_distribution(pandas.concat(mixtures))
    found = model.explain(X.iloc[[3]], background)
    for name in OUTPUTS:
        outputs = getattr(prediction, name).reshape(6, 4, len(background), 2).mean(2)
        gains = np.diff(outputs, axis=1)
        expected = np.zeros((3, 2))
        for order, steps in zip(permutations(range(3)), gains, strict=True):
            expected[list(order)] += steps / 6
        scale = np.abs(expected).max()
        np.testing.assert_allclose(getattr(found, name).values[0], expected, atol=2e-5 * scale + 1e-6)


def test_values_add_up_to_the_calibrated_prediction(model):
    X, _ = some_data()
    found, prediction = model.explain(X[50:]), model.predict_distribution(X[50:])
    for name in OUTPUTS:
        base, values, predicted = getattr(found, name)
        np.testing.assert_allclose(predicted, getattr(prediction, name), rtol=1e-5)
        np.testing.assert_allclose(base + values.sum(1), predicted, rtol=1e-5)


def test_the_default_background_are_training_rows(model):
    X, _ = some_data()
    given = model.explain(X[50:], X[:50])
    for name in OUTPUTS:
        found = getattr(model.explain(X[50:]), name)
        np.testing.assert_allclose(found.base, getattr(given, name).base, rtol=1e-5)
        np.testing.assert_allclose(found.values, getattr(given, name).values, atol=1e-4)


def test_groups_are_features(model):
    X, _ = some_data()
    whole = model.explain(X[50:], groups={"all": [0, 1, 2]})
    assert whole.features == ("all",)
    difference = whole.mean.predicted - whole.mean.base
    np.testing.assert_allclose(whole.mean.values[:, 0], difference, rtol=1e-4)


def test_frame_has_a_line_per_row_target_and_feature(model):
    X, _ = some_data()
    found = model.explain(X[50:])
    frame = found.to_frame()
    assert frame.columns.tolist() == list(OUTPUTS)
    assert frame.index.names == ["row", "target", "feature"]
    value = frame.loc[(52, "strain", "load"), "epistemic_std"]
    assert value == found.epistemic_std.values[2, 2, 1]


def test_one_target_has_no_axis_of_targets(sine):
    X, y = sine
    fitted = quick_joint(inference=Stay()).fit(X, pandas.Series(y, name="stress"))
    found = fitted.explain(X[:4])
    assert found.features == ("x0", "x1")
    assert found.mean.values.shape == (4, 2)
    assert found.mean.base.shape == ()
    assert found.target_names == fitted.target_names_ == ("stress",)
    assert found.to_frame().index.names == ["row", "feature"]
    # One network knows nothing of its ignorance.
    np.testing.assert_array_equal(found.epistemic_std.values, 0)
    assert found.reason(0) == "no ignorance"


def test_many_features_are_sampled_and_add_up(rng):
    X = rng.normal(size=(40, 12))
    fitted = quick_joint(inference=Stay()).fit(X, X[:, 0] + rng.normal(size=40))
    found, again = fitted.explain(X[:2]), fitted.explain(X[:2])
    base, values, predicted = found.mean
    np.testing.assert_allclose(base + values.sum(1), predicted, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(values, again.mean.values)
    other = fitted.explain(X[:2], random_state=1).mean.values
    assert 0 < np.abs(other - values).max() < 0.1 * np.abs(values).max()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": {"a": [0, 1]}}, r"each of the inputs 0 to 2 once. Got {'a': \[0, 1\]}"),
        ({"groups": {"a": [0, 1, 2], "b": []}}, "each of the inputs"),
        ({"num_permutations": 1}, "`num_permutations` must be a whole number of at least 2. Got 1"),
    ],
)
def test_wrong_arguments_are_refused(model, arguments, message):
    X, _ = some_data()
    with pytest.raises(ValueError, match=message):
        model.explain(X, **arguments)


def known(values: list[float], predicted: float, base: float = 1.0) -> Explanation:
    """Return an explanation of one row whose outputs are all the same."""
    part = Attribution(np.array(base), np.array([values]), np.array([predicted]))
    return Explanation(("heat", "time", "load", "rest"), part, part, part)


@pytest.mark.parametrize(
    ("values", "predicted", "sentence"),
    [
        ([1.5, 0.7, -0.3, 0.3], 3.2, "ignorance 3.2 × typical, mostly from heat"),
        ([0.6, 0.8, 0.5, 0.1], 3.0, "ignorance 3 × typical, mostly from time and heat"),
        ([0.5, 0.5, 0.5, 0.6], 3.1, "ignorance 3.1 × typical, mostly from rest and heat"),
        ([-0.1, -0.5, 0.0, 0.0], 0.4, "ignorance 0.4 × typical, mostly from time"),
        ([0.9, -0.8, 0.0, 0.0], 1.1, "ignorance is typical"),
    ],
)
def test_reason_names_the_features_that_explain_half(values, predicted, sentence):
    assert known(values, predicted).reason(0) == sentence


def test_reason_with_many_small_causes_and_of_the_mean():
    part = Attribution(np.array(1.0), np.full((1, 6), 0.5), np.array([4.0]))
    found = Explanation(("a", "b", "c", "d", "e", "f"), part, part, part)
    assert found.reason(0, "aleatoric_std") == "noise 4 × typical, from a, b, c and others"
    assert known([-2.0, 0.5, 0, 0], -0.5).reason(0, "mean") == (
        "mean -0.5, 1.5 below the average, mostly from heat"
    )


def test_targets_and_outputs_must_be_known(model):
    X, _ = some_data()
    found = model.explain(X[:1])
    np.testing.assert_array_equal(found.output("mean", "strain").values, found.mean.values[..., 1])
    np.testing.assert_array_equal(found.output("mean", 1).base, found.mean.base[1])
    with pytest.raises(ValueError, match=r"'stress' or 'strain' or a number from 0 to 1. Got None"):
        found.reason(0)
    with pytest.raises(ValueError, match="`output` must be one of 'mean'"):
        found.output("std", 0)


@pytest.mark.slow
def test_each_output_is_driven_by_its_own_input():
    """One input drives the mean, one the noise, and one was sampled sparsely; the default model."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (150, 3))
    sparse = rng.random(150) < 0.07
    X[:, 2] = np.where(sparse, rng.uniform(-0.4, 1, 150), rng.uniform(-1, -0.4, 150))
    y = 3 * np.sin(2 * X[:, 0]) + np.exp(1.2 * X[:, 1] - 1) * rng.normal(size=150)
    model = VeBNNRegressor(random_state=0).fit(X, y)
    found = model.explain([[0.8, 0.0, -0.7], [0.0, 0.9, -0.7], [0.0, 0.0, 0.6]])
    drivers = [np.argmax(np.abs(found.output(name).values[at])) for at, name in enumerate(OUTPUTS)]
    assert drivers == [0, 1, 2]
    assert found.epistemic_std.predicted[2] > 2 * found.epistemic_std.base
