"""Baselines from other libraries: boosted trees and Gaussian processes with their usual settings.

To add a baseline, write a function with the signature of ``Forecaster`` and add it to ``BASELINES``.
The packages come with the extra ``vebnn[bench]``. Early stopping on 20 % of the training rows chooses
the number of trees.
"""

import warnings
from functools import wraps
from typing import Any

import numpy as np
from scipy import special
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from vebnn.bench.forecasts import LEVEL, Forecast, Forecaster

VALIDATION_SHARE = 0.2
MOST_TREES = {"NGBoost": 500, "CatBoost": 1_000}  # their own defaults
PATIENCE = 50
# Fitting a kernel to n rows costs n³: further rows only enter the prediction.
KERNEL_ROWS = 500


def _each_target(forecaster: Forecaster) -> Forecaster:
    """Return a forecaster that fits each target alone, for methods that take one."""

    @wraps(forecaster)
    def each(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
        if y.ndim == 1:
            return forecaster(X, y, X_new, seed)
        parts = [forecaster(X, target, X_new, seed) for target in y.T]
        mean = np.stack([part.mean for part in parts], axis=1)
        variance = np.stack([part.variance for part in parts], axis=1)
        intervals = [part.interval for part in parts if part.interval is not None]
        return Forecast(mean, variance, tuple(np.stack(intervals, axis=-1)) if intervals else None)

    return each


@_each_target
def ngboost(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
    """Natural gradient boosting of a Gaussian's mean and log std (Duan et al. 2020)."""
    from ngboost import NGBRegressor

    X_fit, X_val, y_fit, y_val = _with_validation(X, y, seed)
    model = NGBRegressor(n_estimators=MOST_TREES["NGBoost"], random_state=seed, verbose=False)
    model.fit(X_fit, y_fit, X_val=X_val, Y_val=y_val, early_stopping_rounds=PATIENCE)
    normal = model.pred_dist(X_new, max_iter=model.best_val_loss_itr)
    return Forecast(normal.loc, normal.scale**2)


@_each_target
def catboost(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
    """CatBoost's RMSEWithUncertainty with virtual ensembles (Malinin et al. 2021)."""
    from catboost import CatBoostRegressor

    X_fit, X_val, y_fit, y_val = _with_validation(X, y, seed)
    model = CatBoostRegressor(
        iterations=MOST_TREES["CatBoost"],
        loss_function="RMSEWithUncertainty",
        posterior_sampling=True,
        early_stopping_rounds=PATIENCE,
        random_seed=seed,
        thread_count=1,
        allow_writing_files=False,
        verbose=False,
    ).fit(X_fit, y_fit, eval_set=(X_val, y_val))
    mean, epistemic, aleatoric = model.virtual_ensembles_predict(
        X_new, prediction_type="TotalUncertainty", virtual_ensembles_count=10
    ).T
    return Forecast(mean, epistemic + aleatoric)


@_each_target
def gaussian_process(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
    """Matérn-5/2 with a length scale per input and constant noise; the kernel from 500 rows."""
    units = StandardScaler().fit(X)
    X, X_new = units.transform(X), units.transform(X_new)
    some = np.random.default_rng(seed).permutation(len(X))[:KERNEL_ROWS]
    matern = Matern(np.ones(X.shape[1]), (1e-2, 1e4), nu=2.5)
    kernel = ConstantKernel() * matern + WhiteKernel(0.1, (1e-8, 10))
    settings: dict[str, Any] = {"normalize_y": True, "random_state": seed}
    with warnings.catch_warnings():
        # The length scale of an input without influence ends at its bound.
        warnings.simplefilter("ignore", ConvergenceWarning)
        kernel = GaussianProcessRegressor(kernel, **settings).fit(X[some], y[some]).kernel_
    model = GaussianProcessRegressor(kernel, optimizer=None, **settings).fit(X, y)
    mean, std = model.predict(X_new, return_std=True)
    return Forecast(mean, std**2)


@_each_target
def quantile_boosting(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
    """Boosted quantiles with conformal prediction (Romano et al. 2019).

    The variance is that of a Gaussian with the same interval.
    """
    tail = (1 - LEVEL) / 2

    def boosted(**loss: Any) -> HistGradientBoostingRegressor:
        return HistGradientBoostingRegressor(random_state=seed, **loss)

    X_fit, X_val, y_fit, y_val = _with_validation(X, y, seed)
    low, high = (boosted(loss="quantile", quantile=q).fit(X_fit, y_fit) for q in (tail, 1 - tail))
    outside = np.maximum(low.predict(X_val) - y_val, y_val - high.predict(X_val))
    rank = int(np.ceil((len(y_val) + 1) * LEVEL))
    wider = np.sort(outside)[min(rank, len(y_val)) - 1]
    lower, upper = low.predict(X_new) - wider, high.predict(X_new) + wider
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    std = np.maximum((upper - lower) / (2 * special.ndtri(1 - tail)), 1e-3 * y.std())
    return Forecast(boosted().fit(X, y).predict(X_new), std**2, (lower, upper))


BASELINES: dict[str, Forecaster] = {
    "NGBoost": ngboost,
    "CatBoost": catboost,
    "GP": gaussian_process,
    "Quantile boosting": quantile_boosting,
}


def _with_validation(X: np.ndarray, y: np.ndarray, seed: int) -> list[np.ndarray]:
    return train_test_split(X, y, test_size=VALIDATION_SHARE, random_state=seed)
