"""Sequences whose noise goes together, with a known mean: does the epistemic interval hold it?"""

import numpy as np
import pytest

from vebnn import GRU, PSGLD, Prediction, Training, VeBNNRegressor, metrics

RHO, NOISE, STEPS = 0.95, 0.3, 40
TRAINING = Training(600, 5e-3, patience=100)


def sequences(seed: int, num_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs, a mean that remembers them, and observations with autoregressive noise."""
    rng = np.random.default_rng(seed)
    X = np.cumsum(rng.normal(size=(num_rows, STEPS, 1)), axis=1) / 3
    mean, noise = np.zeros((2, num_rows, STEPS, 1))
    mean[:, 0], noise[:, 0] = 0.4 * np.tanh(X[:, 0]), rng.normal(size=(num_rows, 1))
    for step in range(1, STEPS):
        mean[:, step] = 0.8 * mean[:, step - 1] + 0.4 * np.tanh(X[:, step])
        fresh = np.sqrt(1 - RHO**2) * rng.normal(size=(num_rows, 1))
        noise[:, step] = RHO * noise[:, step - 1] + fresh
    return X, mean, mean + NOISE * noise


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_intervals_of_the_mean_hold_it_though_steps_go_together() -> None:
    X, _, y = sequences(10, 60)
    X_new, truth, _ = sequences(99, 100)

    def prediction(noise_within: str | None) -> Prediction:
        model = VeBNNRegressor(
            GRU((16,), linear=True),
            variance_network=GRU((4,)),
            inference=PSGLD(40, 400, 10, 4, step_size=1e-3),
            mean_training=TRAINING,
            variance_training=Training(600, 1e-2, patience=100),
            residuals="posterior",
            variance_inference="map",
            rounds=2,
            num_folds=3,
            noise_within=noise_within,
            random_state=0,
        )
        return model.fit(X, y).predict_distribution(X_new)

    def coverage(found: Prediction) -> float:
        return metrics.coverage(truth, *found.mean_interval(0.95))

    default, independent = prediction(None), prediction("independent")
    assert coverage(default) > 0.88
    assert coverage(independent) < coverage(default) - 0.08
    assert metrics.rmse(truth, default.mean) < 1.1 * metrics.rmse(truth, independent.mean)
    std = np.sqrt(default.aleatoric_variance.mean())
    assert std == pytest.approx(NOISE, rel=0.2)
