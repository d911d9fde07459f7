"""Baselines from other libraries, with their usual settings.

To add a baseline, write a function with the signature of ``Forecaster`` and add it to ``BASELINES``.
The packages come with the extra ``vebnn[bench]``, and bde with ``vebnn[bde]``. Early stopping on 20 %
of the training rows chooses the number of trees.
"""

import warnings
from contextlib import redirect_stderr
from functools import wraps
from importlib.util import find_spec
from io import StringIO
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
BDE_ROWS = 250  # predicted at once: 8,000 draws of each


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
        noises = [part.noise_variance for part in parts if part.noise_variance is not None]
        return Forecast(
            mean,
            variance,
            tuple(np.stack(intervals, axis=-1)) if intervals else None,
            noise_variance=np.stack(noises, axis=1) if noises else None,
        )

    return each


@_each_target
def ngboost(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
    """Natural gradient boosting of a Gaussian's mean and log std (Duan et al. 2020)."""
    from ngboost import NGBRegressor

    X_fit, X_val, y_fit, y_val = _with_validation(X, y, seed)
    model = NGBRegressor(n_estimators=MOST_TREES["NGBoost"], random_state=seed, verbose=False)
    model.fit(X_fit, y_fit, X_val=X_val, Y_val=y_val, early_stopping_rounds=PATIENCE)
    normal = model.pred_dist(X_new, max_iter=model.best_val_loss_itr)
    # All of it is noise: one model has no epistemic part.
    return Forecast(normal.loc, normal.scale**2, noise_variance=normal.scale**2)


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
    # A member is the sum of the first trees, from half of them on.
    num_members = min(10, model.tree_count_ // 2)
    if num_members == 0:
        mean, aleatoric = model.predict(X_new, prediction_type="RMSEWithUncertainty").T
        return Forecast(mean, aleatoric, noise_variance=aleatoric)
    mean, epistemic, aleatoric = model.virtual_ensembles_predict(
        X_new, prediction_type="TotalUncertainty", virtual_ensembles_count=num_members
    ).T
    return Forecast(mean, epistemic + aleatoric, noise_variance=aleatoric)


def gaussian_process(num_starts: int) -> Forecaster:
    """Matérn-5/2 with a length scale per input and constant noise; the kernel from 500 rows.

    The kernel is the best of ``num_starts`` searches for the largest marginal likelihood.
    """

    @_each_target
    def forecast(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
        units = StandardScaler().fit(X)
        X, X_new = units.transform(X), units.transform(X_new)
        some = np.random.default_rng(seed).permutation(len(X))[:KERNEL_ROWS]
        matern = Matern(np.ones(X.shape[1]), (1e-2, 1e4), nu=2.5)
        kernel = ConstantKernel() * matern + WhiteKernel(0.1, (1e-8, 10))
        settings: dict[str, Any] = {"normalize_y": True, "random_state": seed}
        with warnings.catch_warnings():
            # The length scale of an input without influence ends at its bound.
            warnings.simplefilter("ignore", ConvergenceWarning)
            search = GaussianProcessRegressor(kernel, n_restarts_optimizer=num_starts - 1, **settings)
            kernel = search.fit(X[some], y[some]).kernel_
        model = GaussianProcessRegressor(kernel, optimizer=None, **settings).fit(X, y)
        mean, std = model.predict(X_new, return_std=True)
        # The kernel's noise is in units of the standardised targets.
        noise = np.full_like(mean, model.kernel_.k2.noise_level * np.var(y))
        return Forecast(mean, std**2, noise_variance=noise)

    return forecast


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


@_each_target
def bde(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
    """Microcanonical Langevin ensembles (Sommer et al. 2025), with the settings of its README."""
    from bde import BdeRegressor
    from bde.loss import GaussianNLL

    units, target = StandardScaler().fit(X), StandardScaler().fit(y[:, None])
    model = BdeRegressor(
        hidden_layers=[16, 16],
        n_members=8,
        seed=seed,
        loss=GaussianNLL(),
        epochs=200,
        patience=10,
        validation_split=0.15,
        lr=1e-3,
        weight_decay=1e-4,
        warmup_steps=5_000,
        n_samples=2_000,
        n_thinning=2,
    )
    with redirect_stderr(StringIO()):  # its progress bar cannot be turned off
        model.fit(units.transform(X), target.transform(y[:, None])[:, 0])

    def moments(rows: np.ndarray) -> np.ndarray:
        # Members and draws come first; the last axis has the mean, and the std before its softplus.
        raw = np.asarray(model.predict(rows, raw=True), float)
        means, stds = raw[..., 0], np.logaddexp(0, raw[..., 1])
        return np.stack([means.mean((0, 1)), means.var((0, 1)), np.mean(stds**2, (0, 1))])

    parts = np.array_split(units.transform(X_new), -(-len(X_new) // BDE_ROWS))
    mean, epistemic, noise = np.concatenate([moments(part) for part in parts], axis=1)
    scale = target.scale_[0]
    return Forecast(
        mean * scale + target.mean_[0],
        (epistemic + noise) * scale**2,
        noise_variance=noise * scale**2,
    )


BASELINES: dict[str, Forecaster] = {
    "NGBoost": ngboost,
    "CatBoost": catboost,
    "GP": gaussian_process(num_starts=1),
    "GP (4 starts)": gaussian_process(num_starts=4),
    "Quantile boosting": quantile_boosting,
    "bde": bde,
}
# Baseline → its package and the extra it comes with.
PACKAGES = {
    "NGBoost": ("ngboost", "bench"),
    "CatBoost": ("catboost", "bench"),
    "bde": ("bde", "bde"),
}


def require_package(name: str) -> None:
    """Raise ModuleNotFoundError if the package of a baseline is not installed."""
    package, extra = PACKAGES.get(name, ("vebnn", ""))
    if find_spec(package) is None:
        raise ModuleNotFoundError(
            f"The method {name} needs the package {package}, which is not installed: "
            f"pip install 'vebnn[{extra}]'."
        )


def _with_validation(X: np.ndarray, y: np.ndarray, seed: int) -> list[np.ndarray]:
    return train_test_split(X, y, test_size=VALIDATION_SHARE, random_state=seed)
