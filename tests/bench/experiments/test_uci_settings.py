import numpy as np
import pytest

from vebnn.bench.baselines import BASELINES
from vebnn.bench.experiments.uci_settings import (
    UCI_PRESETS,
    Calibrated,
    arguments,
    find_forecaster,
)
from vebnn.bench.forecasts import Forecast
from vebnn.bench.methods import ALL, METHODS
from vebnn.networks import MLP
from vebnn.training import Training


@pytest.mark.parametrize("preset", UCI_PRESETS)
@pytest.mark.parametrize("name", ALL)
def test_every_method_understands_every_preset(name: str, preset: str) -> None:
    method = METHODS[name]
    model = method.make(**arguments(method, preset, 200), random_state=0)
    settings = model._strategy(200)
    if preset == "paper":
        assert settings.network.widths == (50,)
        assert settings.network.dropout_rate == (0.1 if "MC-Dropout" in name else 0.0)


def test_the_paper_trains_for_as_long_as_it_says() -> None:
    joint = arguments(METHODS["MVE (BBB)"], "paper", 200)
    assert joint["network"] == MLP((50,), "relu")
    assert joint["training"] == Training(20_000)
    assert joint["inference"].training == Training(20_000, learning_rate=1e-2)
    cooperative = arguments(METHODS["VeBNN (pSGLD)"], "paper", 200)
    assert cooperative["rounds"] == 2
    sampler = cooperative["inference"]
    assert (sampler.num_samples, sampler.burn_in, sampler.thinning) == (150, 5_000, 100)


def test_quick_is_a_quarter() -> None:
    method = METHODS["MVE (pSGLD)"]
    quick = method.make(**arguments(method, "quick", 1_000))._strategy(1_000)
    usual = method.make()._strategy(1_000)
    assert quick.training.num_epochs == pytest.approx(usual.training.num_epochs / 4, abs=1)
    assert quick.engine.burn_in == pytest.approx(usual.engine.burn_in / 4, abs=1)


def test_names() -> None:
    assert find_forecaster("vebnn(psgld)")[0] == "VeBNN (pSGLD)"
    assert find_forecaster("quantile BOOSTING") == (
        "Quantile boosting",
        BASELINES["Quantile boosting"],
    )
    own = "vebnn.bench.baselines:ngboost"
    name, method = find_forecaster(own)
    assert (name, method.function) == (own, BASELINES["NGBoost"])  # type: ignore[attr-defined]


def test_calibration_learns_from_rows_that_were_held_out(rng: np.random.Generator) -> None:
    X = rng.uniform(size=(2_000, 1))
    y = 2 * rng.standard_normal(2_000)
    calls = []

    def too_sure(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
        calls.append((len(X), len(X_new), seed, len(np.intersect1d(X, X_new))))
        return Forecast(np.zeros(len(X_new)), np.ones(len(X_new)), notes={"what": "raw"})

    forecast = Calibrated(too_sure)(X, y, np.full((7, 1), 5.0), seed=3)
    assert calls == [(1_600, 400, 3, 0), (2_000, 7, 3, 0)]
    # The noise has four times the variance that the method believes in.
    np.testing.assert_allclose(forecast.variance, 4, rtol=0.2)
    assert forecast.notes["what"] == "raw"
    np.testing.assert_allclose(forecast.notes["factors"][0], forecast.variance[0])
    np.testing.assert_array_equal(forecast.raw_variance, 1)


def test_the_preset_of_the_paper_calibrates() -> None:
    assert isinstance(find_forecaster("NGBoost", "paper")[1], Calibrated)
    assert isinstance(find_forecaster("VeBNN (pSGLD)", "paper")[1], Calibrated)


def test_methods_of_this_library_learn_a_kind_of_target() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(40, 1))
    y = np.exp(3 * X[:, 0] + 0.5 * rng.normal(size=40))
    _, forecaster = find_forecaster("ME (MSE)", "quick", "positive")
    forecast = forecaster(X, y, X[:5], 0)
    assert forecast.transformed is not None
    assert forecast.transformed.target.name == "positive"
    assert (forecast.total_interval()[0] > 0).all()
    # The mean of a log-normal is above its median.
    assert (forecast.mean > np.exp(forecast.transformed.mean)).all()
