"""``VeBNNRegressor(heavy_tails=True)``: what each step gets, what is predicted, saved and refused."""

from copy import copy

import numpy as np
import pytest
from scipy import stats

from tests.support.settings import Stay, quick
from vebnn import GRU, MAP, Prediction, Training, VeBNNRegressor
from vebnn.strategies.cooperative.rounds import leave_one_out
from vebnn.strategies.cooperative.tails import Tails

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]

SMALL = {"heavy_tails": True, "residuals": "posterior", "rounds": 3, "num_folds": 2}
SHARE_WRONG = 0.05


def with_outliers(num_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (num_rows, 1))
    wrong = rng.random(num_rows) < SHARE_WRONG
    noise = 0.1 * rng.standard_normal(num_rows) + 3 * wrong * rng.standard_normal(num_rows)
    return X, np.sin(2 * X[:, 0]) + noise


ROWS, NEW = with_outliers(160, 5), with_outliers(500, 6)


@pytest.fixture(scope="module")
def model() -> VeBNNRegressor:
    return quick(**SMALL).fit(*ROWS)


@pytest.fixture(scope="module")
def prediction(model) -> Prediction:
    return model.predict_distribution(NEW[0])


def test_outliers_cost_less_than_with_gaussian_noise(model, prediction) -> None:
    gaussian = quick(**(SMALL | {"heavy_tails": False})).fit(*ROWS)
    other, (X, y) = gaussian.predict_distribution(NEW[0]), NEW
    truth = np.sin(2 * X[:, 0])
    assert gaussian.degrees_of_freedom_ is None
    assert model.degrees_of_freedom_[0] < 5
    assert prediction.log_prob(y).mean() > other.log_prob(y).mean() + 0.5
    assert np.mean((prediction.mean - truth) ** 2) < np.mean((other.mean - truth) ** 2)


def test_the_noise_is_that_of_the_bulk(model, prediction) -> None:
    freedom = model.degrees_of_freedom_[0]
    scale = prediction.aleatoric_std * np.sqrt((freedom - 2) / freedom)
    assert np.median(scale) == pytest.approx(0.1, rel=0.35)


def test_the_prediction_is_a_student_t_around_the_draws(model, prediction) -> None:
    freedom, y = float(model.degrees_of_freedom_[0]), NEW[1]
    scale = prediction.aleatoric_std * np.sqrt((freedom - 2) / freedom)
    by_draw = stats.t.pdf(y, freedom, prediction.draws, scale)
    np.testing.assert_allclose(prediction.log_prob(y, "mixture"), np.log(by_draw.mean(0)), rtol=1e-4)
    lower, upper = prediction.interval(0.9)
    assert np.mean((lower < y) & (y < upper)) == pytest.approx(0.9, abs=0.07)


def test_a_loaded_model_predicts_the_same(model, prediction, tmp_path) -> None:
    model.save(tmp_path / "m")
    loaded = VeBNNRegressor.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.degrees_of_freedom_, model.degrees_of_freedom_)
    again = loaded.predict_distribution(NEW[0])
    np.testing.assert_array_equal(again.interval(0.9), prediction.interval(0.9))
    np.testing.assert_array_equal(again.log_prob(NEW[1]), prediction.log_prob(NEW[1]))


def test_step_3_gets_the_scale_over_the_weights() -> None:
    engine = Stay()
    model = quick(**SMALL, inference=engine, choose_round="last").fit(*ROWS)
    before, last = engine.problems[-2:]
    units, freedom = model.y_units_, model.degrees_of_freedom_
    fitted, data = model.fitted_, last.data
    squared_scale = fitted.noise.inverse_precision(data.x) * (freedom - 2) / freedom
    # Draws of the round before, all of them the warm start, gave the residuals.
    found = model.predict_distribution(ROWS[0], calibrated=False)
    residual = (ROWS[1] - found.mean)[:, None] / units.scale
    weight = (freedom + 1) / (freedom + residual**2 / squared_scale)
    np.testing.assert_allclose(data.noise_variance, squared_scale / weight, rtol=1e-3)
    assert len(before.data.x) == len(data.x)


def test_scores_of_rounds_are_those_of_the_student_t(model) -> None:
    found, freedom = model.predict_distribution(ROWS[0]), model.degrees_of_freedom_[0]
    variance = model.fitted_.noise.inverse_precision(model.x_units_.standardise(ROWS[0]))[:, 0]
    scale = np.sqrt(variance * (freedom - 2) / freedom) * model.y_units_.scale
    log_density = stats.t.logpdf(ROWS[1], freedom, found.draws, scale)[..., None]
    expected = leave_one_out(log_density, np.ones((160, 1))) - np.log(model.y_units_.scale[0])
    assert model.rounds_[-1].validation_nll == pytest.approx(expected, rel=1e-3)


def test_held_out_rows_are_weighted_and_scored() -> None:
    engine, (X, y) = Stay(), with_outliers(60, 7)
    y[0] = 40.0
    model = quick(**SMALL, inference=engine).fit(*ROWS, X_val=X, y_val=y)
    held_out = engine.problems[-1].held_out
    assert held_out.noise_variance[0] > 100 * np.median(held_out.noise_variance)
    p = model.predict_distribution(X)
    nll = -p.log_prob(y).mean() - np.log(model.y_units_.scale[0])
    assert model.rounds_[-1].validation_nll == pytest.approx(nll, rel=1e-3)


def test_several_outputs_have_their_own_degrees_of_freedom() -> None:
    X, y = ROWS
    light = np.cos(X[:, 0]) + 0.2 * np.random.default_rng(1).standard_normal(len(X))
    model = quick(**SMALL).fit(X, np.column_stack([y, light]))
    heavy, nearly_gaussian = model.degrees_of_freedom_
    assert heavy < 5 < nearly_gaussian
    p = model.predict_distribution(X[:7])
    assert p.interval(0.9)[0].shape == p.sample(3).shape[1:] == (7, 2)


@pytest.mark.slow
def test_sequences_may_be_padded() -> None:
    rng = np.random.default_rng(8)
    X = rng.standard_normal((20, 6, 1))
    y = np.cumsum(X, axis=1) + 0.2 * rng.standard_t(3, (20, 6, 1))
    X[3, 4:], y[3, 4:] = np.nan, np.nan
    gru = {"network": GRU((3,)), "variance_network": GRU((2,)), "rounds": 2}
    model = quick(**(SMALL | gru)).fit(X, y)
    found = model.predict_distribution(X)
    density = found.log_prob(y)
    assert np.isnan(density[3, 4:]).all()
    assert np.isfinite(np.delete(density, 3, axis=0)).all()
    lower, upper = found.interval(0.9)
    assert np.nanmean((lower < y) & (y < upper)) > 0.5


def test_conformal_calibration_widens_intervals_alone(model, prediction) -> None:
    calibrated = copy(model).calibrate(*NEW, "conformal")
    p = calibrated.predict_distribution(NEW[0])
    lower, upper = p.interval(0.9)
    assert np.mean((lower <= NEW[1]) & (NEW[1] <= upper)) >= 0.9
    np.testing.assert_allclose(p.log_prob(NEW[1]), prediction.log_prob(NEW[1]))


def test_residuals_of_the_posterior_are_the_default() -> None:
    settings = VeBNNRegressor(heavy_tails=True, inference="ensemble")._strategy(100)
    assert (settings.residuals, settings.rounds) == ("posterior", None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"residuals": "cross_fit"}, "needs residuals=\"posterior\".* Got residuals='cross_fit'"),
        ({"iterate": "mean"}, "iterate='mean'"),
        ({"rounds": 1}, "rounds=1"),
        ({"inference": "map"}, 'engine with several draws.* Got the engine "map"'),
        ({"inference": MAP(Training(1))}, "engine with several draws"),
        ({"last_layer": True, "residuals": None}, "Got residuals='cross_fit'"),
        ({"target": "positive"}, "is for real targets.* Got target='positive'"),
        ({"target": ("real", "count")}, "is for real targets"),
    ],
)
def test_what_does_not_go_together_is_refused(changes, message) -> None:
    with pytest.raises(ValueError, match=message):
        quick(**(SMALL | changes)).fit(*ROWS)


def test_known_errors_are_refused(model) -> None:
    with pytest.raises(ValueError, match="there can be no `y_std`"):
        quick(**SMALL).fit(*ROWS, y_std=0.1)
    with pytest.raises(ValueError, match="there can be no `y_std`"):
        model.predict_distribution(ROWS[0], y_std=0.1)


@pytest.mark.parametrize("method", ["common", "separate"])
def test_factors_are_refused_before_the_training(method) -> None:
    with pytest.raises(ValueError, match='must be "conformal"'):
        quick(**SMALL).fit(*ROWS, X_val=NEW[0], y_val=NEW[1], calibrate=method)


def test_repeats_are_not_replaced_by_their_own_average(monkeypatch) -> None:
    """An average with a gross error in it makes a good repeat look as bad."""
    seen = []
    fit = Tails.fit.__func__

    def keep(cls, residuals, squared_scale):
        seen.append(residuals)
        return fit(cls, residuals, squared_scale)

    monkeypatch.setattr(Tails, "fit", classmethod(keep))
    X, y = np.repeat(ROWS[0][:50], 2, axis=0), np.repeat(np.sin(ROWS[0][:50, 0]), 2)
    y[1] = 30.0
    quick(**SMALL).fit(X, y)
    good, gross = seen[-1].squared[:2, 0]
    assert good < 0.1 * gross
