import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from vebnn.bench import baselines as peers
from vebnn.bench.baselines import PEERS
from vebnn.bench.contenders import PRESETS, Calibrated, arguments, find_contender, full_name
from vebnn.bench.forecasts import LEVEL, Forecast, scores
from vebnn.bench.methods import ALL, METHODS
from vebnn.datasets.toy import load_toy
from vebnn.networks import MLP
from vebnn.presets import paper
from vebnn.training import Training


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", ALL)
def test_every_method_understands_every_preset(name: str, preset: str) -> None:
    method = METHODS[name]
    model = method.make(**arguments(method, preset, 200), random_state=0)
    settings = model._settings(200)
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


def test_bbb_has_a_small_network_on_the_toy_data() -> None:
    assert paper("toy", "bbb")["network"] == MLP((50,), "tanh")
    assert paper("toy", "psgld")["network"] == MLP((256, 256), "tanh")


def test_quick_is_a_quarter() -> None:
    method = METHODS["MVE (pSGLD)"]
    quick = method.make(**arguments(method, "quick", 1_000))._settings(1_000)
    usual = method.make()._settings(1_000)
    assert quick.training.num_epochs == pytest.approx(usual.training.num_epochs / 4, abs=1)
    assert quick.engine.burn_in == pytest.approx(usual.engine.burn_in / 4, abs=1)


def test_names() -> None:
    assert full_name("vebnn(psgld)") == "VeBNN (pSGLD)"
    assert full_name("quantile BOOSTING") == "Quantile boosting"
    assert full_name("vebnn.bench.baselines:ngboost") == "vebnn.bench.baselines:ngboost"
    assert find_contender("vebnn.bench.baselines:ngboost") is PEERS["NGBoost"]


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


def test_the_preset_of_the_paper_calibrates() -> None:
    assert isinstance(find_contender("NGBoost", "paper"), Calibrated)
    assert isinstance(find_contender("VeBNN (pSGLD)", "paper"), Calibrated)


@pytest.mark.parametrize("name", PEERS)
@threadpool_limits.wrap(limits=1)
def test_peers_know_mean_and_noise_in_the_users_units(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "MOST_TREES", {"NGBoost": 100, "CatBoost": 100})
    toy = load_toy(150, random_state=0)
    y = np.column_stack([toy.y, 100 - 10 * toy.y])
    forecast = PEERS[name](toy.X[:110], y[:110], toy.X[110:], 0)
    assert forecast.mean.shape == forecast.variance.shape == (40, 2)
    numbers = scores(forecast, y[110:])
    assert numbers["rmse"] < 0.75 * np.mean(y[110:].std(axis=0))
    assert 0.8 < numbers["coverage"] <= 1
    # The second target is the first, in other units.
    stds = np.sqrt(forecast.variance).mean(axis=0)
    np.testing.assert_allclose(stds[1], 10 * stds[0], rtol=0.3)
    alone = PEERS[name](toy.X[:110], y[:110, 0], toy.X[110:], 0)
    np.testing.assert_allclose(alone.mean, forecast.mean[:, 0])


def test_an_interval_of_ones_own_is_scored() -> None:
    y = np.array([0.0, 1.0, 5.0])
    wide = Forecast(y * 0, np.ones(3), (np.full(3, -2.0), np.full(3, 2.0)))
    numbers = scores(wide, y)
    assert numbers["coverage"] == pytest.approx(2 / 3)
    assert numbers["interval_length"] == 4
    assert numbers["winkler"] == pytest.approx(4 + 2 / (1 - LEVEL) * 3 / 3)
