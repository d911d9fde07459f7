"""``VeBNNRegressor(noise_covariance="full")``: noise of several outputs that goes together."""

from copy import copy

import jax
import numpy as np
import pytest
from scipy import stats

from tests.support.settings import Stay, quick
from vebnn import GRU, Prediction, VeBNNRegressor

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]

SMALL = {"noise_covariance": "full", "residuals": "posterior", "rounds": 3, "num_folds": 2}
TRUTH = 0.8


def rows(num_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (num_rows, 1))
    noise = rng.multivariate_normal([0, 0], [[1, TRUTH], [TRUTH, 1]], num_rows) * [0.2, 3.0]
    return X, np.column_stack([np.sin(X[:, 0]), 5 * X[:, 0]]) + noise


ROWS, NEW = rows(150, 3), rows(400, 4)


@pytest.fixture(scope="module")
def model() -> VeBNNRegressor:
    return quick(**SMALL).fit(*ROWS)


@pytest.fixture(scope="module")
def prediction(model) -> Prediction:
    return model.predict_distribution(NEW[0])


def test_the_correlation_is_found(model, prediction) -> None:
    assert model.noise_correlation_[0, 1] == pytest.approx(TRUTH, abs=0.08)
    noise = prediction.aleatoric_covariance
    std = prediction.aleatoric_std
    np.testing.assert_allclose(noise[:, 0, 1], model.noise_correlation_[0, 1] * std.prod(-1))
    np.testing.assert_allclose(np.median(std, axis=0), [0.2, 3.0], rtol=0.25)


def test_the_joint_density_is_better_than_that_of_single_outputs(prediction) -> None:
    y = NEW[1]
    gain = prediction.log_prob_joint(y).mean() - prediction.log_prob(y).sum(-1).mean()
    # What two Gaussians of this correlation tell about each other: −log(1 − R²)/2.
    assert gain == pytest.approx(-0.5 * np.log(1 - TRUTH**2), abs=0.15)


def test_samples_go_together(prediction) -> None:
    drawn = prediction.sample(300, random_state=0) - prediction.mean
    first, second = np.moveaxis(drawn / prediction.std, -1, 0)
    expected = prediction.covariance[:, 0, 1] / prediction.std.prod(-1)
    assert np.mean(first * second) == pytest.approx(expected.mean(), abs=0.03)


def test_step_3_sees_the_whole_covariance() -> None:
    engine = Stay()
    model = quick(**SMALL, inference=engine, choose_round="last").fit(*ROWS)
    problem = engine.problems[-1]
    density = problem.objective.log_likelihood
    network = problem.warm_starts(1)
    one = jax.tree.map(lambda leaf: leaf[0], network)
    mean = np.asarray(jax.vmap(one)(problem.data.x))
    std = np.sqrt(problem.data.noise_variance)
    expected = sum(
        stats.multivariate_normal.logpdf(
            target, centre, np.outer(spread, spread) * model.noise_correlation_
        )
        for target, centre, spread in zip(problem.data.target, mean, std, strict=True)
    )
    assert float(density(one, problem.data, None)) == pytest.approx(expected, rel=1e-4)


def test_a_loaded_model_predicts_the_same(model, prediction, tmp_path) -> None:
    model.save(tmp_path / "m")
    loaded = VeBNNRegressor.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.noise_correlation_, model.noise_correlation_)
    again = loaded.predict_distribution(NEW[0])
    np.testing.assert_array_equal(again.log_prob_joint(NEW[1]), prediction.log_prob_joint(NEW[1]))


def test_calibration_keeps_the_correlation(model, prediction) -> None:
    calibrated = copy(model).calibrate(*NEW).predict_distribution(NEW[0])
    assert (calibrated.variance != prediction.variance).any()
    for one in (calibrated, prediction):
        expected = model.noise_correlation_[0, 1] * one.aleatoric_std.prod(-1)
        np.testing.assert_allclose(one.aleatoric_covariance[:, 0, 1], expected)


def test_by_default_every_output_is_by_itself() -> None:
    model = quick(**(SMALL | {"noise_covariance": "diagonal", "rounds": 2})).fit(*ROWS)
    assert model.noise_correlation_ is None
    p = model.predict_distribution(NEW[0])
    np.testing.assert_array_equal(p.aleatoric_covariance[:, 0, 1], 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"noise_covariance": "dense"}, "`noise_covariance` must be one of 'diagonal', 'full'"),
        ({"residuals": "cross_fit"}, "Got residuals='cross_fit'"),
        ({"rounds": 1}, "rounds=1"),
        ({"heavy_tails": True}, "is for Gaussian noise"),
        ({"inference": "map"}, "engine with several draws"),
        ({"target": ("real", "positive")}, "is for real targets"),
    ],
)
def test_what_does_not_go_together_is_refused(changes, message) -> None:
    with pytest.raises(ValueError, match=message):
        quick(**(SMALL | changes)).fit(*ROWS)


def test_rows_that_it_cannot_learn_from_are_refused(model) -> None:
    X, y = ROWS
    with pytest.raises(ValueError, match="needs several outputs"):
        quick(**SMALL).fit(X, y[:, 0])
    with pytest.raises(ValueError, match="there can be no `y_std`"):
        quick(**SMALL).fit(X, y, y_std=0.1)
    with pytest.raises(ValueError, match="there can be no `y_std`"):
        model.predict_distribution(X, y_std=0.1)
    X, y = X.reshape(30, 5, 1), y.reshape(30, 5, 2)
    missing = y.copy()
    missing[3, 4, 1] = np.nan
    gru = quick(**SMALL | {"network": GRU((3,))})
    for y_fit, y_val in ((missing, y), (y, missing)):
        with pytest.raises(ValueError, match="needs all outputs of a row or step"):
            gru.fit(X, y_fit, X_val=X, y_val=y_val)


def test_draws_for_arviz_have_the_density_of_a_row(model) -> None:
    """The density of all outputs together: leaving a row out leaves out all of it."""
    X, y = NEW[0][:7], NEW[1][:7]
    tree, p = model.to_arviz(X, y), model.predict_distribution(X, calibrated=False)
    assert tree["log_likelihood"]["y_joint"].dims == ("chain", "draw", "row")
    found = np.asarray(tree["log_likelihood"]["y_joint"]).reshape(-1, 7)
    for mean, by_row in zip(p.draws, found, strict=True):
        for row in range(7):
            covariance = p.aleatoric_covariance[row]
            expected = stats.multivariate_normal.logpdf(y[row], mean[row], covariance)
            assert by_row[row] == pytest.approx(expected, rel=1e-5)
    assert tree["posterior_predictive"]["y"].dims == ("chain", "draw", "row", "output")
    y = y.copy()
    y[0, 0] = np.nan
    with pytest.raises(ValueError, match="must have all of them"):
        model.to_arviz(X, y)
