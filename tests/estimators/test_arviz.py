"""Draws in ArviZ's form: leave-one-out scores against their closed form, densities by hand."""

from dataclasses import dataclass

import arviz_stats
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from tests.support.settings import quick_joint, quick_mixture
from vebnn import GRU, MLP, JointRegressor, Training
from vebnn.inference import Engine, Posterior, Problem
from vebnn.networks import build_networks
from vebnn.training import Stage

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]

CHAINS, DRAWS = 4, 1_000


def bayesian_line(x: np.ndarray, z: np.ndarray, variance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance of (slopes, intercept) with the prior N(0, 1)."""
    design = np.column_stack([x, np.ones(len(x))])
    covariance = np.linalg.inv(np.eye(design.shape[1]) + design.T @ design / variance)
    return covariance @ design.T @ z / variance, covariance


@dataclass(frozen=True)
class ExactLine(Engine):
    """Draws from the closed form of Bayesian linear regression."""

    variance: float = 0.1  # of the noise, in standardised units

    def run(self, key, problem: Problem, stage: Stage) -> Posterior:
        x, z = np.asarray(problem.data.x, float), np.asarray(problem.data.target[:, 0], float)
        mean, covariance = bayesian_line(x, z, self.variance)
        drawn = np.random.default_rng(0).multivariate_normal(mean, covariance, (CHAINS, DRAWS))
        draws = build_networks(MLP(()), x.shape[1:], 1, jax.random.split(key, 1))
        draws.weights.weights[0] = jnp.asarray(drawn[:, :, None, :-1], jnp.float32)
        draws.weights.biases[0] = jnp.asarray(drawn[:, :, -1:], jnp.float32)
        return Posterior(draws, np.zeros((CHAINS, 1)), True, {})


def exact_leave_one_out(x: np.ndarray, z: np.ndarray, variance: float) -> np.ndarray:
    """Return log p(z_i | all others): each line is fitted again without its row."""
    scores = []
    for row, (inputs, target) in enumerate(zip(x, z, strict=True)):
        mean, covariance = bayesian_line(np.delete(x, row, 0), np.delete(z, row), variance)
        place = np.append(inputs, 1)
        std = np.sqrt(place @ covariance @ place + variance)
        scores.append(stats.norm.logpdf(target, place @ mean, std))
    return np.array(scores)


def test_leave_one_out_has_its_closed_form() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2)) * [3, 0.1] + [5, 0]
    y = 100 + 20 * X[:, 0] + 9 * rng.standard_normal(40)
    noise = 9.0
    model = JointRegressor(
        network=MLP(()),
        loss="mse",
        noise_std=noise,
        inference=ExactLine((noise / y.std()) ** 2),
        training=Training(num_epochs=2),
        random_state=0,
    ).fit(X, y)
    tree = model.to_arviz(X, y)
    found = arviz_stats.loo(tree, pointwise=True)
    x, z = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
    expected = exact_leave_one_out(x, z, (noise / y.std()) ** 2) - np.log(y.std())
    np.testing.assert_allclose(found.elpd_i, expected, rtol=0.01)
    assert abs(found.elpd - expected.sum()) < 0.1
    assert (found.pareto_k < 0.7).all()
    table = arviz_stats.summary(tree, var_names=["mean"], round_to="none")
    np.testing.assert_allclose(table["mean"].astype(float), model.predict(X), rtol=1e-4)
    assert (table["r_hat"].astype(float) < 1.02).all()
    drawn = tree["posterior_predictive"]["y"]
    assert drawn.shape == (CHAINS, DRAWS, 40)
    std = model.predict_distribution(X).std
    np.testing.assert_allclose(drawn.std(("chain", "draw")), std, rtol=0.06)
    np.testing.assert_array_equal(tree["observed_data"]["y"], y)
    wider = model.to_arviz(X[:3], y[:3], y_std=4.0)["log_likelihood"]["y"]
    means = np.asarray(tree["posterior"]["mean"][..., :3])
    np.testing.assert_allclose(wider, stats.norm.logpdf(y[:3], means, np.hypot(noise, 4.0)), rtol=1e-6)


def test_log_likelihoods_are_in_the_units_of_targets_that_are_not_real() -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (30, 1))
    y = np.column_stack([np.exp(X[:, 0]), rng.poisson(3, 30)])
    model = quick_joint(target=("positive", "count"), inference="ensemble").fit(X, y)
    tree, p = model.to_arviz(X, y), model.predict_distribution(X)
    by_draw = np.asarray(tree["log_likelihood"]["y"])
    assert by_draw.shape[2:] == (30, 2)
    # The density of the mixture is the mean of those of the draws.
    np.testing.assert_allclose(
        np.log(np.exp(by_draw).mean((0, 1))), p.log_prob(y, "mixture"), rtol=1e-9
    )
    np.testing.assert_allclose(tree["posterior"]["mean"][:, 0], p.draws, rtol=1e-9)
    drawn = np.asarray(tree["posterior_predictive"]["y"])
    assert (drawn[..., 0] > 0).all()
    np.testing.assert_array_equal(drawn[..., 1], np.round(drawn[..., 1]))


def test_modes_are_summed() -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (60, 1))
    y = np.where(rng.random(60) < 0.5, 3, -3) + 0.2 * rng.standard_normal(60)
    model = quick_mixture().fit(X, y)
    by_draw = np.asarray(model.to_arviz(X, y)["log_likelihood"]["y"])
    expected = model.predict_distribution(X).log_prob(y, "mixture")
    np.testing.assert_allclose(np.log(np.exp(by_draw).mean((0, 1))), expected, rtol=1e-9)


def test_padded_sequences_become_a_list_of_observations() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(8, 5, 2))
    y = X.sum(-1, keepdims=True)
    X[3, 2:], y[3, 2:], y[5, 0] = np.nan, np.nan, np.nan
    model = quick_joint(network=GRU((4,)), training=Training(num_epochs=3)).fit(X, y)
    tree = model.to_arviz(X, y)
    assert tree["log_likelihood"]["y"].shape == (1, 1, 36)
    rows, steps = (np.asarray(tree["constant_data"][name]) for name in ("row", "step"))
    np.testing.assert_array_equal(tree["observed_data"]["y"], y[rows, steps, 0])
    p = model.predict_distribution(X)
    means = np.asarray(tree["posterior"]["mean"])[0, 0]
    np.testing.assert_allclose(means, p.mean[rows, steps, 0], rtol=1e-6)


def test_wrong_shapes_get_a_sentence() -> None:
    X = np.linspace(0, 1, 20)[:, None]
    model = quick_joint(training=Training(num_epochs=2)).fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"must have the shape \(20,\). Got \(20, 1\)"):
        model.to_arviz(X, X)
