"""What holds for all shapes, scales, dtypes and containers of the same numbers."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.settings import quick
from vebnn import MLP, PSGHMC, Training, VeBNNRegressor
from vebnn.prediction import Prediction

# scikit-learn's, where a model is fitted to arrays and predicts for frames, or the other way round.
pytestmark = pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")

NUM_ROWS = 24
BRIEF = Training(num_epochs=20, learning_rate=1e-2)
ENGINE = PSGHMC(num_samples=3, burn_in=10, thinning=1, num_chains=2)


def tiny() -> VeBNNRegressor:
    return quick(
        network=MLP((4,), "tanh"),
        inference=ENGINE,
        mean_training=BRIEF,
        variance_training=BRIEF,
        num_folds=2,
        rounds=1,
    )


def as_polars(X: np.ndarray) -> Any:
    polars = pytest.importorskip("polars")
    if X.ndim == 1:
        return polars.Series("y", X)
    return polars.DataFrame({f"c{index}": column for index, column in enumerate(X.T)})


def as_frame(X: np.ndarray, dtype: str | None = None) -> Any:
    if X.ndim == 1:
        return pd.Series(X, name="y", dtype=dtype)
    return pd.DataFrame(X, columns=[f"c{index}" for index in range(X.shape[1])], dtype=dtype)


def strided(X: np.ndarray) -> np.ndarray:
    """Return a view of every second entry along every axis of a larger array, backwards."""
    larger = np.full([2 * size for size in X.shape], np.nan)
    view = larger[(slice(None, None, -2),) * X.ndim]
    view[...] = X
    return view


# Each takes small whole numbers, which all of these types hold exactly.
CONTAINERS: dict[str, Callable[[np.ndarray], Any]] = {
    "float16": lambda X: X.astype(np.float16),
    "float32": lambda X: X.astype(np.float32),
    "int8": lambda X: X.astype(np.int8),
    "int64": lambda X: X.astype(np.int64),
    "object": lambda X: X.astype(object),
    "list": lambda X: X.tolist(),
    "Fortran order": np.asfortranarray,
    "strided": strided,
    "read only": lambda X: np.broadcast_to(X, (1, *X.shape))[0],
    "pandas": as_frame,
    "pandas Int64": lambda X: as_frame(X, "Int64"),
    "pandas Float32": lambda X: as_frame(X, "Float32"),
}
if find_spec("polars"):
    CONTAINERS["polars"] = as_polars
SHAPES = st.sampled_from([(1, None), (3, 2)])  # features, outputs


def rows_of(num_features: int, num_outputs: int | None, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and targets that are small whole numbers."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-20, 20, (NUM_ROWS, num_features)).astype(float)
    y = np.round(X[:, :1] + 5 * rng.standard_normal((NUM_ROWS, num_outputs or 1)))
    return X, y if num_outputs else y[:, 0]


def assert_sound(prediction: Prediction, shape: tuple[int, ...]) -> None:
    parts = (prediction.mean, prediction.std, prediction.aleatoric_std, prediction.epistemic_std)
    for part in parts:
        assert part.shape == shape
        assert np.isfinite(part).all()
        assert part.dtype == np.float64
    _, total, aleatoric, epistemic = parts
    assert (aleatoric > 0).all()
    np.testing.assert_allclose(total**2, aleatoric**2 + epistemic**2, rtol=1e-6)
    low, high = prediction.interval(0.9)
    assert ((low < prediction.mean) & (prediction.mean < high)).all()


def assert_same(first: Prediction, second: Prediction) -> None:
    for name in ("mean", "aleatoric_variance", "epistemic_variance"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.fixture(scope="module")
def fitted(quick_compilation) -> dict[tuple, VeBNNRegressor]:
    return {shape: tiny().fit(*rows_of(*shape, seed=0)) for shape in [(1, None), (3, 2)]}


seeds = st.integers(0, 2**16)


@settings(max_examples=40)
@given(shape=SHAPES, container=st.sampled_from(list(CONTAINERS)), rows=st.integers(1, 40), seed=seeds)
def test_predict_takes_the_same_numbers_in_any_container(fitted, shape, container, rows, seed) -> None:
    num_features, num_outputs = shape
    X = np.random.default_rng(seed).integers(-100, 100, (rows, num_features)).astype(float)
    model = fitted[shape]
    prediction = model.predict_distribution(CONTAINERS[container](X))
    assert_sound(prediction, (rows,) if num_outputs is None else (rows, num_outputs))
    assert_same(prediction, model.predict_distribution(X))


@settings(max_examples=20)
@given(
    shape=SHAPES, inputs=st.sampled_from(list(CONTAINERS)), targets=st.sampled_from(list(CONTAINERS))
)
def test_fit_takes_the_same_numbers_in_any_container(fitted, shape, inputs, targets) -> None:
    X, y = rows_of(*shape, seed=0)
    again = tiny().fit(CONTAINERS[inputs](X), CONTAINERS[targets](y))
    prediction = again.predict_distribution(CONTAINERS[inputs](X))
    assert_sound(prediction, y.shape)
    assert_same(prediction, fitted[shape].predict_distribution(X))


@pytest.mark.parametrize("convert", [np.asarray, as_frame, as_polars])
def test_yes_and_no_are_one_and_zero(fitted, convert) -> None:
    rng = np.random.default_rng(1)
    X = rng.random((NUM_ROWS, 3)) < 0.5
    y = X @ np.array([[1, 2], [3, 4], [5, 6]]) + rng.standard_normal((NUM_ROWS, 2))
    as_numbers = tiny().fit(X.astype(float), y).predict_distribution(X.astype(float))
    assert_same(tiny().fit(convert(X), y).predict_distribution(convert(X)), as_numbers)


@settings(max_examples=12)
@given(shape=SHAPES, of_inputs=st.integers(-100, 100), of_targets=st.integers(-100, 100))
def test_powers_of_two_change_units_alone(fitted, shape, of_inputs, of_targets) -> None:
    """They are exact in every step of the units, so that not a bit of the fit may change."""
    X, y = rows_of(*shape, seed=0)
    by_x, by_y = 2.0**of_inputs, 2.0**of_targets
    there = tiny().fit(by_x * X, by_y * y).predict_distribution(by_x * X)
    assert_sound(there, y.shape)
    here = fitted[shape].predict_distribution(X)
    np.testing.assert_array_equal(there.mean, by_y * here.mean)
    np.testing.assert_array_equal(there.epistemic_variance, by_y**2 * here.epistemic_variance)


@settings(max_examples=20)
@given(shape=SHAPES, power=st.floats(-30, 20), rows=st.integers(1, 8), seed=seeds)
def test_predictions_far_away_are_finite(fitted, shape, power, rows, seed) -> None:
    X = 10**power * np.random.default_rng(seed).standard_normal((rows, shape[0]))
    prediction = fitted[shape].predict_distribution(X)
    assert_sound(prediction, (rows,) if shape[1] is None else (rows, shape[1]))


@settings(max_examples=20)
@given(shape=SHAPES, rows=st.integers(2, 40), seed=seeds)
def test_the_order_of_rows_does_not_matter(fitted, shape, rows, seed) -> None:
    rng = np.random.default_rng(seed)
    X, order = rng.standard_normal((rows, shape[0])), rng.permutation(rows)
    mean, std = fitted[shape].predict(X, return_std=True)
    mean_shuffled, std_shuffled = fitted[shape].predict(X[order], return_std=True)
    np.testing.assert_allclose(mean_shuffled, mean[order], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(std_shuffled, std[order], rtol=1e-5)


def test_missing_values_of_other_libraries_are_missing(fitted) -> None:
    polars = pytest.importorskip("polars")
    for X in (pd.DataFrame({"a": [1, None]}, dtype="Int64"), polars.DataFrame({"a": [1, None]})):
        with pytest.warns(UserWarning, match="which had none in training"):
            found = fitted[1, None].predict(X)
        np.testing.assert_array_equal(
            found, fitted[1, None].predict([[1], fitted[1, None].gaps_.medians])
        )
