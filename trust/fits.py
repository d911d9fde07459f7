"""The models that studies of error bars fit: the library's default, and a tiny one."""

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from vebnn import MLP, PSGHMC, Training, VeBNNRegressor

Fit = Callable[[np.ndarray, np.ndarray, int], VeBNNRegressor]  # inputs, targets, seed


def fit_default(X: np.ndarray, y: np.ndarray, seed: int) -> VeBNNRegressor:
    """Fit the library's default model."""
    return _fit(VeBNNRegressor(random_state=seed), X, y)


def fit_tiny(X: np.ndarray, y: np.ndarray, seed: int) -> VeBNNRegressor:
    """Fit a model in a second: it shows that the proof works, not that its promises are kept."""
    brief = Training(num_epochs=50, learning_rate=1e-2)
    model = VeBNNRegressor(
        network=MLP((5,), "tanh"),
        variance_network=MLP((3,), "tanh"),
        inference=PSGHMC(num_samples=5, burn_in=50, thinning=5, num_chains=2),
        mean_training=brief,
        variance_training=brief,
        num_folds=2,
        rounds=1,
        random_state=seed,
    )
    return _fit(model, X, y)


def _fit(model: VeBNNRegressor, X: np.ndarray, y: np.ndarray) -> VeBNNRegressor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the study measures what comes out
        return model.fit(X, y)
