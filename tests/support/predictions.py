"""Predictions whose moments and draws we choose, for tests."""

import numpy as np

from vebnn.prediction import Components, Prediction


def of_draws(draws: np.ndarray, aleatoric: np.ndarray | float, names=None) -> Prediction:
    """Return the prediction of some draws, ``(draws, rows, ...)``."""
    mean = draws.mean(0)
    noise = np.broadcast_to(aleatoric, mean.shape).astype(float)
    return Prediction(
        mean=mean,
        aleatoric_variance=noise,
        epistemic_variance=draws.var(0),
        load_components=lambda: Components.of_draws(draws, noise[None]),
        target_names=names,
    )


def of_moments(mean, epistemic, aleatoric=1.0) -> Prediction:
    """Return a prediction that fails if its draws are loaded."""
    mean = np.asarray(mean, float)

    def no_draws() -> Components:
        raise AssertionError("this needs no draws")

    return Prediction(
        mean=mean,
        aleatoric_variance=np.broadcast_to(aleatoric, mean.shape).astype(float),
        epistemic_variance=np.broadcast_to(epistemic, mean.shape).astype(float),
        load_components=no_draws,
    )
