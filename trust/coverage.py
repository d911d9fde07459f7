"""The standing proof of error bars, on simulated data with the defaults of ``VeBNNRegressor``.

Thresholds, set before the run:

- raw 95 % intervals hold 93 to 97 % of fresh targets, averaged over 100 data sets;
- a target of pure noise: RMSE and aleatoric std within 10 % of the noise std, epistemic std below a
  quarter of it;
- a target without noise: aleatoric std below 5 % of the std of the target;
- other units and another order of rows: see ``trust/invariance.py``.
"""

from typing import Any

import numpy as np

from trust.fits import Fit, fit_default, fit_tiny
from trust.invariance import prove_invariance
from trust.promises import Promise
from vebnn.datasets.truth import Problem, Truth
from vebnn.datasets.truth_functions import constant, log_normal_std, process_draw

TITLE = "Coverage"

# Rows and inputs of the simulated data sets, in turn: few shapes, because each is compiled.
SHAPES = ((60, 1), (60, 2), (120, 3), (120, 5), (240, 1), (240, 4), (400, 2), (400, 5))
NUM_DATA_SETS, NUM_TEST = 100, 1_000
COVERAGE = (0.93, 0.97)
RATIO = (0.9, 1.1)
MOST_IGNORANCE = 0.25  # epistemic std of pure noise, in units of the noise
MOST_NOISE = 0.05  # aleatoric std of a target without noise, in std of the target

Shape = tuple[int, int]  # rows, inputs


def prove(*, short: bool, seed: int = 0) -> tuple[list[Promise], dict[str, Any]]:
    """Return what was measured; the short form fits tiny models to a few rows."""
    fit = fit_tiny if short else fit_default
    shapes, count = (SHAPES[:1], 2) if short else (SHAPES, NUM_DATA_SETS)
    shape, repeats = ((60, 1), 1) if short else ((400, 2), 3)
    parts = [
        prove_coverage(fit, shapes, count, seed),
        prove_noise(fit, shape, repeats, seed),
        prove_no_noise(fit, shape, repeats, seed),
        prove_invariance(fit, seed),
    ]
    promises = [promise for part, _ in parts for promise in part]
    return promises, {name: value for _, figures in parts for name, value in figures.items()}


def problem_of(shape: Shape, heteroscedastic: bool) -> Problem:
    """Return a random smooth function with constant noise, or noise that is another such function."""
    num_rows, num_inputs = shape
    lengths = (np.sqrt(num_inputs),) * num_inputs

    def draw(rng: np.random.Generator) -> Truth:
        mean = process_draw(rng, lengths, smooth=True)
        if not heteroscedastic:
            return Truth(mean, constant(0.3))
        return Truth(mean, log_normal_std(process_draw(rng, lengths, smooth=True), 0.3, 0.5))

    return Problem(num_rows, num_inputs, "a smooth function", draw)


def prove_coverage(
    fit: Fit, shapes: tuple[Shape, ...], count: int, seed: int
) -> tuple[list[Promise], dict[str, Any]]:
    """Count fresh targets inside raw 95 % intervals."""
    found = []
    for number in range(count):
        shape, varying = shapes[number % len(shapes)], bool(number // len(shapes) % 2)
        rng = np.random.default_rng([seed, number])
        problem = problem_of(shape, varying)
        truth = problem.draw(rng)
        X, X_test = problem.inside(shape[0], rng), problem.inside(NUM_TEST, rng)
        model = fit(X, truth.observe(X, rng), number)
        y_test = truth.observe(X_test, rng)
        low, high = model.predict_distribution(X_test, calibrated=False).interval(0.95)
        inside = float(np.mean((low <= y_test) & (y_test <= high)))
        found.append({"rows": shape[0], "inputs": shape[1], "varying": varying, "coverage": inside})
    every = [one["coverage"] for one in found]
    mean, (least, most) = float(np.mean(every)), COVERAGE
    what = f"raw 95 % intervals hold {least:.0%} to {most:.0%} of fresh targets"
    measured = f"{mean:.1%} ({count} data sets, {min(every):.0%} to {max(every):.0%} each)"
    return [Promise(what, measured, least <= mean <= most)], {"coverage": found}


def prove_noise(
    fit: Fit, shape: Shape, repeats: int, seed: int
) -> tuple[list[Promise], dict[str, Any]]:
    """Fit pure noise of std 1: the model must call it noise."""
    found = []
    for number in range(repeats):
        rng = np.random.default_rng([seed, 1_000 + number])
        X, X_test = rng.uniform(-1, 1, shape), rng.uniform(-1, 1, (NUM_TEST, shape[1]))
        prediction = fit(X, rng.standard_normal(len(X)), number).predict_distribution(X_test)
        # A fresh target is noise of variance 1 around 0.
        rmse = np.sqrt(1 + np.mean(prediction.mean**2))
        parts = prediction.aleatoric_variance, prediction.epistemic_variance
        found.append([float(rmse), *(float(np.sqrt(part.mean())) for part in parts)])
    rmse, aleatoric, epistemic = np.mean(found, 0)
    least, most = RATIO
    promise = Promise(
        "a target of pure noise is called noise",
        f"RMSE {rmse:.2f}, aleatoric {aleatoric:.2f}, epistemic {epistemic:.2f} of the noise std",
        bool(rmse <= most and least <= aleatoric <= most and epistemic <= MOST_IGNORANCE),
    )
    return [promise], {"pure_noise": found}


def prove_no_noise(
    fit: Fit, shape: Shape, repeats: int, seed: int
) -> tuple[list[Promise], dict[str, Any]]:
    """Fit a smooth function without noise."""
    found = []
    for number in range(repeats):
        rng = np.random.default_rng([seed, 2_000 + number])
        problem = problem_of(shape, False)
        X, X_test = problem.inside(shape[0], rng), problem.inside(NUM_TEST, rng)
        y = problem.draw(rng).mean(X)
        prediction = fit(X, y, number).predict_distribution(X_test)
        found.append(float(np.sqrt(prediction.aleatoric_variance.mean()) / y.std()))
    what = f"a target without noise has an aleatoric std below {MOST_NOISE:.0%} of its std"
    measured = f"{np.mean(found):.1%}"
    return [Promise(what, measured, float(np.mean(found)) < MOST_NOISE)], {"without_noise": found}
