import jax
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from vebnn.bench import baselines
from vebnn.bench.baselines import BASELINES
from vebnn.bench.forecasts import scores
from vebnn.datasets.toy import load_toy


@pytest.mark.parametrize("name", BASELINES)
@threadpool_limits.wrap(limits=1)
@jax.numpy_rank_promotion("allow")  # as outside of the tests; bde needs it
def test_baselines_predict_mean_and_variance_in_the_units_of_y(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "bde":
        pytest.importorskip("bde", reason="bde has an environment of its own")
    monkeypatch.setattr(baselines, "MOST_TREES", {"NGBoost": 100, "CatBoost": 100})
    toy = load_toy(150, random_state=0)
    y = np.column_stack([toy.y, 100 - 10 * toy.y])
    forecast = BASELINES[name](toy.X[:110], y[:110], toy.X[110:], 0)
    assert forecast.mean.shape == forecast.variance.shape == (40, 2)
    numbers = scores(forecast, y[110:])
    assert numbers["rmse"] < 0.75 * np.mean(y[110:].std(axis=0))
    assert 0.8 < numbers["coverage"] <= 1
    if forecast.noise_variance is not None:
        assert (forecast.noise_variance <= forecast.variance * (1 + 1e-6)).all()
        noise = np.sqrt(forecast.noise_variance).mean(axis=0)
        np.testing.assert_allclose(noise[1], 10 * noise[0], rtol=0.3)
    # The second target is the first, in other units.
    stds = np.sqrt(forecast.variance).mean(axis=0)
    np.testing.assert_allclose(stds[1], 10 * stds[0], rtol=0.3)
    alone = BASELINES[name](toy.X[:110], y[:110, 0], toy.X[110:], 0)
    np.testing.assert_allclose(alone.mean, forecast.mean[:, 0])


@pytest.mark.parametrize("num_rows", [6, 20])
def test_catboost_gives_a_forecast_if_few_trees_are_enough(num_rows):
    pytest.importorskip("catboost")
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(num_rows, 1)), rng.normal(size=num_rows)
    for seed in range(4):
        forecast = baselines.catboost(X, y, X, seed)
        assert (forecast.variance >= forecast.noise_variance).all()
        assert (forecast.noise_variance > 0).all()
