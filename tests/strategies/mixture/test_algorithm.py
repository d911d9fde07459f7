"""The mixture algorithm as a whole: its stages, rounds and warm starts."""

import jax
import numpy as np
import pytest
from scipy import special, stats

from tests.support.arrays import dataset
from tests.support.settings import Stay, quick_mixture
from vebnn import Ensemble, Training
from vebnn.likelihoods.mixture import Mixture
from vebnn.strategies.mixture.algorithm import log_density

pytestmark = pytest.mark.usefixtures("quick_compilation")

SHORT = {
    "mean_training": Training(num_epochs=30, learning_rate=1e-2),
    "variance_training": Training(num_epochs=20, learning_rate=1e-2),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (50, 1))
    return X, X[:, 0] + rng.choice([-4.0, 4.0], 50) + 0.3 * rng.normal(size=50)


@pytest.mark.parametrize("residuals", ["cross_fit", "in_sample"])
def test_stages(data, stages, residuals):
    quick_mixture(inference=Stay(), residuals=residuals, rounds=2, verbose=1, **SHORT).fit(*data)
    crossed = residuals == "cross_fit"
    assert stages.names == [
        "Step 1",
        *(["Step 1 · folds"] if crossed else []),
        "Round 1 · Step 2 · 1",
        "Round 1 · Step 2 · 2",
        *(["Round 2 · folds"] if crossed else []),
        "Round 2 · Step 2 · 1",
        "Round 2 · Step 2 · 2",
    ]
    assert stages.expected == [stages.names]
    assert stages.num_runs["Step 1"] == 2
    if crossed:
        assert stages.num_runs["Step 1 · folds"] == 2


def test_step_3_starts_from_the_best_of_the_random_starts(data):
    engine = Stay()
    model = quick_mixture(inference=engine, num_starts=3, **SHORT).fit(*data)
    assert model.start_nll_.shape == (3,)
    (problem,) = engine.problems
    started = jax.tree.map(lambda leaf: leaf[0], problem.starts)
    jax.tree.map(np.testing.assert_array_equal, started, model.fitted_.mean)


def test_members_of_an_ensemble_start_near_the_network_of_step_1(data):
    # Members must differ, but a start far from Step 1 would have its modes in another order.
    engine = Stay()
    quick_mixture(inference=engine, **SHORT).fit(*data)
    (problem,) = engine.problems
    fresh = problem.initialise(jax.random.split(jax.random.key(1), 4))
    x = data[0].astype(np.float32)
    outputs = [
        np.stack([one(row) for row in x])
        for one in (jax.tree.map(lambda leaf, n=n: leaf[n], fresh) for n in range(2))
    ]
    assert not np.allclose(*outputs)
    jax.tree.map(
        lambda mine, start: np.testing.assert_array_less(np.abs(mine - start), 1.01),
        fresh,
        jax.tree.map(lambda leaf: np.repeat(leaf, 4, axis=0), problem.starts),
    )


def test_the_noise_of_step_3_is_learned_plus_known(data):
    engine = Stay()
    held_out = {"X_val": data[0][:9], "y_val": data[1][:9], "y_std_val": np.full(9, 0.5)}
    model = quick_mixture(inference=engine, **SHORT)
    model.fit(*data, y_std=np.full(50, 0.5), **held_out)
    (problem,) = engine.problems
    known = (0.5 / model.y_units_.scale) ** 2
    for rows in (problem.data, problem.held_out):
        learned = model.fitted_.noise.variance(rows.x).reshape(-1, 1, 2)
        np.testing.assert_allclose(rows.noise_variance, learned + known, rtol=1e-5)


def test_the_round_with_the_smallest_validation_nll_is_chosen(data):
    engine = Ensemble(2, Training(20, patience=5))
    model = quick_mixture(inference=engine, rounds=2, **SHORT).fit(*data)
    nll = [one.validation_nll for one in model.rounds_]
    assert model.chosen_round_ == 1 + np.argmin(nll)
    last = quick_mixture(inference=engine, rounds=2, choose_round="last", **SHORT).fit(*data)
    assert last.chosen_round_ == 2
    assert last.rounds_ == model.rounds_


def test_log_density_of_every_draw_is_that_of_its_mixture(rng):
    target, known = rng.normal(size=(5, 2)), rng.uniform(0.1, 1, (5, 2))
    mean, variance = rng.normal(size=(3, 5, 2, 2)), rng.uniform(0.1, 1, (3, 5, 2, 2))
    weight = rng.dirichlet([1, 1], (3, 5, 2))
    observed = dataset(np.zeros((5, 1)), target, known_variance=known)
    found = log_density(
        observed, Mixture(*map(np.float32, (mean, np.log(weight)))), np.float32(variance)
    )
    by_mode = stats.norm.logpdf(target[..., None], mean, np.sqrt(variance + known[..., None]))
    np.testing.assert_allclose(
        found, special.logsumexp(by_mode, axis=-1, b=weight), rtol=1e-3, atol=1e-4
    )
