import numpy as np
import pytest
from scipy import stats

from vebnn.bench.forecasts import LEVEL, Forecast, scores
from vebnn.prediction.targets import TARGETS


def test_an_interval_of_ones_own_is_scored() -> None:
    y = np.array([0.0, 1.0, 5.0])
    wide = Forecast(y * 0, np.ones(3), (np.full(3, -2.0), np.full(3, 2.0)))
    numbers = scores(wide, y)
    assert numbers["coverage"] == pytest.approx(2 / 3)
    assert numbers["interval_length"] == 4
    assert numbers["winkler"] == pytest.approx(4 + 2 / (1 - LEVEL) * 3 / 3)


def test_the_forecast_of_a_logarithm_is_log_normal() -> None:
    rng = np.random.default_rng(1)
    m, v, y = rng.normal(size=50), rng.uniform(0.1, 1, 50), rng.lognormal(size=50)
    law = stats.lognorm(np.sqrt(v), scale=np.exp(m))
    forecast = Forecast(m, v, notes={"a": 1}).in_units_of(TARGETS["positive"])
    np.testing.assert_allclose(forecast.mean, law.mean())
    np.testing.assert_allclose(forecast.variance, law.var())
    assert forecast.noise_std is None
    np.testing.assert_allclose(forecast.total_interval(), law.interval(LEVEL))
    numbers = scores(forecast, y)
    assert numbers["tll"] == pytest.approx(np.mean(law.logpdf(y)))
    assert numbers["a"] == 1
    # E|Y − y| − ½ E|Y − Y'| from samples.
    samples = law.rvs((20_000, 50), random_state=2)
    by_samples = np.abs(samples - y).mean(0) - np.abs(samples[::2] - samples[1::2]).mean(0) / 2
    assert numbers["crps"] == pytest.approx(by_samples.mean(), rel=0.02)


def test_the_parts_of_a_transformed_forecast_are_those_of_its_target() -> None:
    m, noise, epistemic = np.zeros(3), np.full(3, 0.3), np.full(3, 0.2)
    z = Forecast(m, noise + epistemic, noise_variance=noise)
    forecast = z.in_units_of(TARGETS["positive"])
    parts = TARGETS["positive"].moments(m, noise, epistemic)
    np.testing.assert_allclose(forecast.noise_std, np.sqrt(parts.aleatoric_variance))
    np.testing.assert_allclose(forecast.epistemic_std, np.sqrt(parts.epistemic_variance))
    first = forecast.rows(slice(1))
    assert scores(first, np.ones(1)) == scores(forecast, np.ones(3))


def test_whole_numbers_have_probabilities() -> None:
    m, v = np.array([1.0, 2.5]), np.array([0.3, 0.2])
    forecast = Forecast(m, v).in_units_of(TARGETS["count"])
    total = sum(np.exp(scores(forecast.rows(slice(1)), np.array([float(k)]))["tll"]) for k in range(60))
    assert total == pytest.approx(1)
    assert forecast.total_interval()[0].min() >= 0


def test_a_calibrated_forecast_is_also_scored_raw(rng: np.random.Generator) -> None:
    y = rng.normal(size=200)
    numbers = scores(Forecast(0 * y, np.full(200, 4.0), raw_variance=np.ones(200)), y)
    raw = scores(Forecast(0 * y, np.ones(200)), y)
    assert (numbers["raw_tll"], numbers["raw_coverage"]) == (raw["tll"], raw["coverage"])
    assert numbers["tll"] < raw["tll"]
    assert "raw_tll" not in raw
