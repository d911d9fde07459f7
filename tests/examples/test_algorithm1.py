"""The example from scratch has the paper's equations, and gives what the library gives."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import algorithm1
from vebnn import MLP, PSGLD, Training, VeBNNRegressor

SOURCE = Path(algorithm1.__file__).read_text()
DATA = algorithm1.toy_data(jax.random.key(0))
GRID = np.linspace(0.5, 9.5, 37)
SEEDS = range(5)
SHORT = {"MEAN_EPOCHS": 500, "VARIANCE_EPOCHS": 500, "BURN_IN": 400, "THINNING": 10, "DRAWS": 50}


def example(*replacement: str, **constants: Any) -> ModuleType:
    """Return a copy of the example, with other constants, and with some code replaced."""
    module = ModuleType("algorithm1_copy")
    if replacement:
        assert replacement[0] in SOURCE
    source = SOURCE.replace(*replacement) if replacement else SOURCE
    exec(compile(source, "algorithm1.py", "exec"), module.__dict__)
    module.__dict__.update(constants)
    return module


def check_objectives(module: ModuleType, _: np.ndarray | None = None) -> None:
    """Compare the objectives with SciPy's densities, and mini-batches with all rows."""
    module.WEIGHT_DECAY = 0.1  # so large that it counts
    key_theta, key_phi, key_rows = jax.random.split(jax.random.key(1), 3)
    theta = module.init(key_theta, module.MEAN_WIDTHS)
    phi = module.init(key_phi, module.VARIANCE_WIDTHS)
    x, y = DATA[0] / 10, DATA[1] / 5
    mean = module.mean(theta, x)
    r, variance = (y - mean) ** 2, module.true_noise_std(x) ** 2
    theta_squared, phi_squared = (sum(np.sum(layer**2) for layer in one) for one in (theta, phi))
    alpha, rate = module.shape_and_rate(phi, x)
    gamma = stats.gamma.logpdf(np.asarray(r), np.asarray(alpha), scale=1 / np.asarray(rate))
    gaussian = stats.norm.logpdf(y, mean, np.sqrt(variance))
    l2 = module.WEIGHT_DECAY / 2 * theta_squared
    rows = module.batches(key_rows, epochs=1)
    np.testing.assert_array_equal(np.sort(rows.ravel()), np.arange(module.ROWS))
    for loss, layers, data, expected in (
        (module.mean_loss, theta, (x, y), np.mean(r) + l2),
        (module.variance_loss, phi, (x, r), -gamma.sum() + phi_squared / 2),
        (module.negative_log_posterior, theta, (x, y, variance), -gaussian.sum() + theta_squared / 2),
    ):
        by_batch = [loss(layers, *(column[batch] for column in data)) for batch in rows]
        np.testing.assert_allclose(loss(layers, *data), expected, rtol=1e-4)
        np.testing.assert_allclose(np.mean(by_batch), expected, rtol=1e-4)


def check_sampler(module: ModuleType, _: np.ndarray | None = None) -> None:
    """Sample a network without hidden layer, whose posterior is known in closed form."""
    # Steps so long that positions change faster than the preconditioner: the term χ is then small.
    module.__dict__.update(BURN_IN=500, THINNING=5, DRAWS=4_000, STEP_SIZE=3e-2)
    x = (DATA[0] - 5) / 3
    variance = 40 * module.true_noise_std(x) ** 2  # so large that the prior counts
    y = 1 + 2 * x + jnp.sqrt(variance) * jax.random.normal(jax.random.key(3), x.shape)
    start = [jnp.zeros((1, 2))]
    draws = module.sample(jax.random.key(4), start, jnp.stack([x, y, variance]))[0][:, 0]
    design = np.stack([x, np.ones_like(x)], axis=1)
    covariance = np.linalg.inv(design.T @ (design / np.asarray(variance)[:, None]) + np.eye(2))
    mean, std = covariance @ design.T @ (y / variance), np.sqrt(np.diag(covariance))
    # A draw every 20 steps is nearly independent of the one before: four standard errors of the mean
    # are 0.06 stds. What remains of 0.15 is for finite steps, mini-batches and χ.
    np.testing.assert_array_less(np.abs(draws.mean(0) - mean) / std, 0.15)
    np.testing.assert_allclose(draws.std(0) / std, 1, atol=0.15)


@pytest.fixture(scope="module")
def by_library() -> np.ndarray:
    """Mean, aleatoric std and epistemic std of the library on the grid, (seeds, 3, grid)."""
    same = example(**SHORT)
    engine = PSGLD(
        num_samples=same.DRAWS,
        burn_in=same.BURN_IN,
        thinning=same.THINNING,
        step_size=same.STEP_SIZE,
        decay=1.0,
        batch_size=same.BATCH,
    )
    model = VeBNNRegressor(
        MLP(same.MEAN_WIDTHS[1:-1], "tanh"),
        variance_network=MLP(same.VARIANCE_WIDTHS[1:-1], "tanh"),
        inference=engine,
        rounds=same.ROUNDS,
        choose_round="marginal_likelihood",
        residuals="in_sample",
        rescale_residuals=False,
        variance_loss="gamma_rate",
        mean_training=Training(same.MEAN_EPOCHS, same.MEAN_RATE, same.BATCH),
        variance_training=Training(same.VARIANCE_EPOCHS, same.VARIANCE_RATE, same.BATCH),
        weight_decay=same.WEIGHT_DECAY,
        validation_fraction=1e-6,  # no row is set aside
    )
    x, y = map(np.asarray, DATA)
    found = []
    for seed in SEEDS:
        p = model.set_params(random_state=seed).fit(x[:, None], y).predict_distribution(GRID[:, None])
        found.append([p.mean, p.aleatoric_std, p.epistemic_std])
    return np.asarray(found)


def check_result(module: ModuleType, by_library: np.ndarray) -> None:
    """Compare averages over seeds, by their root mean square difference over the grid.

    Each may differ by three standard errors, from the spread over seeds, plus 0.03, which is 2 % of
    the typical noise std: the example keeps the last epoch, the library the best one (Step 1 by
    training loss, Step 2 by its objective and, from round 2 on, by LMglk).
    """
    grid = jnp.asarray(GRID)
    by_example = [module.fit_predict(jax.random.key(seed), *DATA, grid) for seed in SEEDS]
    sides = np.asarray(by_example), by_library
    difference = sides[0].mean(0) - sides[1].mean(0)
    squared_error = sum(side.var(0, ddof=1) / len(SEEDS) for side in sides)
    allowed = 3 * np.sqrt(squared_error.mean(-1)) + 0.03
    np.testing.assert_array_less(np.sqrt((difference**2).mean(-1)), allowed)


@pytest.mark.parametrize("check", [check_objectives, check_sampler])
def test_example_has_the_equations_of_the_paper(check: Callable) -> None:
    check(example())


def test_example_agrees_with_the_library(by_library) -> None:
    check_result(example(**SHORT), by_library)


OBJECTIVES = (
    ("alpha, rate = shape", "rate, alpha = shape"),
    ("(alpha - 1)", "alpha"),
    ("WEIGHT_DECAY * half_norm(theta)", "WEIGHT_DECAY * 2 * half_norm(theta)"),
    ("ROWS / len(x) * jnp.sum(nll)", "jnp.sum(nll)"),
    ("-ROWS / len(x) * log_likelihood", "-log_likelihood"),
    ("log_likelihood + half_norm(theta)", "log_likelihood"),
)
SAMPLER = (
    ("STEP_SIZE / 2 * G", "STEP_SIZE * G"),
    ("jnp.sqrt(STEP_SIZE * G)", "jnp.sqrt(STEP_SIZE) * G"),
    ("-ROWS / len(x) * log_likelihood", "-log_likelihood"),
)
RESULTS = (
    ("alpha, rate = shape", "rate, alpha = shape"),
    ("(y - current_mean) ** 2", "jnp.abs(y - current_mean)"),
    ("ROWS / len(x) * jnp.sum(nll)", "jnp.sum(nll)"),
    ("jnp.sum(nll) + half_norm(phi)", "jnp.sum(nll)"),
    ("-ROWS / len(x) * log_likelihood", "-log_likelihood"),
    ("jnp.sqrt(aleatoric_variance)", "aleatoric_variance"),
    ("means.std(0)", "means.std(0) / DRAWS**0.5"),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        *((check_objectives, *pair) for pair in OBJECTIVES),
        *((check_sampler, *pair) for pair in SAMPLER),
        *((check_result, *pair) for pair in RESULTS),
    ],
)
def test_wrong_equations_are_noticed(check: Callable, right: str, wrong: str, by_library) -> None:
    with pytest.raises(AssertionError):
        check(example(right, wrong, **SHORT), by_library)
