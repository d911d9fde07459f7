"""What an estimator of sequences is asked for rows, and what becomes of its answer."""

from typing import Any

import numpy as np
import pytest

from vebnn.prediction import Components, Prediction
from vebnn.tabular.sequences.estimator import ByRows
from vebnn.tabular.sequences.steps import Steps

NAN = np.nan


class Noting:
    """An estimator that notes its arguments, and predicts ten times the first feature."""

    def __init__(self) -> None:
        self.asked: dict[str, dict[str, Any]] = {}

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **more: Any) -> None:
        self.asked["fit"] = {"X": X, "y": y, "sample_weight": sample_weight, **more}

    def calibrate(self, X: Any, y: Any, method: str, **more: Any) -> None:
        self.asked["calibrate"] = {"X": X, "y": y, "method": method, **more}

    def predict_distribution(self, X: np.ndarray, *, y_std: Any = None) -> Prediction:
        self.asked["predict"] = {"X": X, "y_std": y_std}
        mean = 10 * X[..., :1]
        one = np.ones_like(mean)
        return Prediction(mean, one, one, lambda: Components.of_draws(mean[None], one[None]))


@pytest.fixture
def steps() -> Steps:
    """Sequence 0 is rows 2, 0, 3, where row 2 has no target; sequence 1 is row 1."""
    values = np.array([[1.0], [2], [3], [4]])
    return Steps(values, np.array([0, 1, 0, 0]), np.array([1, 0, 0, 2]), np.array([0, 1, 3]))


def test_rows_become_padded_sequences(steps: Steps) -> None:
    noting = Noting()
    by_rows = ByRows(noting, ("y",))
    row = np.array([0.5, 0.6, 0.7])
    by_rows.fit(steps, row, 2 * row, y_std=3 * row[:, None], groups=np.array([7, 8, 7]))
    asked = noting.asked["fit"]
    np.testing.assert_array_equal(asked["X"][..., 0], [[3, 1, 4], [2, NAN, NAN]])
    np.testing.assert_array_equal(asked["y"][..., 0], [[NAN, 0.5, 0.7], [0.6, NAN, NAN]])
    np.testing.assert_array_equal(asked["sample_weight"], [[0, 1, 1.4], [1.2, 0, 0]])
    np.testing.assert_allclose(asked["y_std"][..., 0], [[0, 1.5, 2.1], [1.8, 0, 0]])
    np.testing.assert_array_equal(asked["groups"], [7, 8])
    by_rows.calibrate(steps, row, "common")
    asked = noting.asked["calibrate"]
    assert (asked["method"], asked["y_std"], asked["y"].shape) == ("common", None, (2, 3, 1))


def test_predictions_become_rows(steps: Steps) -> None:
    noting = Noting()
    found = ByRows(noting, ("y",)).predict_distribution(steps)
    np.testing.assert_array_equal(found.mean, [10, 20, 40])
    # Lengths are rounded up, so that few programs are compiled.
    assert noting.asked["predict"]["X"].shape == (2, 16, 1)
    assert noting.asked["predict"]["y_std"] is None
