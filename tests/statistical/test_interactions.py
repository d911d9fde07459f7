"""More rows must not make the mean worse: inputs that only act together are found in large tables."""

import numpy as np
import pytest

from vebnn import VeBNNRegressor


@pytest.mark.slow
# A chain from a network that has not found the term disagrees with the others, and the fit says so.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_two_inputs_that_only_act_together_are_found_in_a_large_table() -> None:
    def mean(X: np.ndarray) -> np.ndarray:
        return np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + np.exp(-(X[:, 3] ** 2)) + together(X)

    def together(X: np.ndarray) -> np.ndarray:
        return 0.3 * np.cos(2 * X[:, 6]) * X[:, 7]

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 20)).astype(np.float32)
    model = VeBNNRegressor(random_state=0).fit(X, mean(X) + rng.normal(0, 0.4, len(X)))
    X_new = rng.normal(size=(2_000, 20))
    prediction = model.predict_distribution(X_new)
    error = prediction.mean.ravel() - mean(X_new)
    size = np.sqrt(np.mean(together(X_new) ** 2))
    # Without the term, the error is its size. A chain that has not found it shows in the epistemic std.
    assert np.sqrt(np.mean(error**2)) < 0.5 * size
    assert np.sqrt(np.mean(error**2)) < 1.5 * np.sqrt(np.mean(prediction.epistemic_variance))
