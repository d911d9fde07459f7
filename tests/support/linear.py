"""Bayesian linear regression: a problem whose answer is known."""

from typing import NamedTuple

import jax
import numpy as np
from arviz_stats.base import array_stats

from vebnn.core.types import NoisyDataset
from vebnn.inference import Problem
from vebnn.likelihoods.log_likelihoods import GaussianNoiseGiven, IsotropicPrior
from vebnn.networks import MLP, Network, build_networks
from vebnn.training import Objective


class LinearProblem(NamedTuple):
    """Bayesian linear regression with known, unequal noise: its posterior has a closed form."""

    data: NoisyDataset
    starts: Network  # eight of them
    objective: Objective
    mean: np.ndarray  # of the posterior over (slopes, intercept)
    covariance: np.ndarray

    @property
    def problem(self) -> Problem:
        recipe, in_shape = MLP(()), self.data.x.shape[1:]
        return Problem(
            objective=self.objective,
            data=self.data,
            initialise=lambda keys: build_networks(recipe, in_shape, 1, keys),
            starts=self.starts,
            validation_rows=np.arange(0, len(self.data.x), 5),
        )


def flatten(networks: Network) -> np.ndarray:
    """Return (..., parameters) of stacked linear models: slopes, intercept."""
    layers = networks.weights
    return np.concatenate([layers.weights[0][..., 0, :], layers.biases[0]], axis=-1)


# (slopes, intercept) → prediction: the middle of the data, their edge, and far outside
PLACES = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, -2.0, 1.0], [3.0, 3.0, 1.0]])


def assert_predictions(draws: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> None:
    """Hold predictions of a linear model to four Monte Carlo standard errors."""
    outputs = draws.astype(float) @ PLACES.T
    center = PLACES @ mean
    std = np.sqrt(np.einsum("ij,jk,ik->i", PLACES, covariance, PLACES))
    size = array_stats.ess(outputs, chain_axis=0, draw_axis=1)
    assert size.min() > 1_000
    assert (np.abs(outputs.mean((0, 1)) - center) < 4 * std / np.sqrt(size)).all()
    size = array_stats.ess((outputs - center) ** 2, chain_axis=0, draw_axis=1)
    # The standard error of a std is std/√(2 · size).
    assert (np.abs(outputs.std((0, 1)) / std - 1) < 4 / np.sqrt(2 * size)).all()


def rescaled(problem: LinearProblem, num_rows: int, factor: float) -> tuple[NoisyDataset, np.ndarray]:
    """Return data with more rows and another noise variance, and the precision of their posterior."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((num_rows, 2))
    variance = factor * rng.uniform(0.1, 0.5, (num_rows, 1))
    design = np.column_stack([x, np.ones(num_rows)])
    target = design @ problem.mean[:, None] + np.sqrt(variance) * rng.standard_normal((num_rows, 1))
    parts = (x, target, np.ones_like(target), variance)
    precision = np.eye(3) + (design / variance).T @ design
    return NoisyDataset(*(part.astype(np.float32) for part in parts)), precision


def linear_problem() -> LinearProblem:
    """Return the problem, with its posterior."""
    rng = np.random.default_rng(1)
    num_rows, precision = 61, 1.0
    x = rng.standard_normal((num_rows, 2))
    variance = rng.uniform(0.1, 0.5, (num_rows, 1))
    weight = rng.choice([0.0, 1.0, 2.0], (num_rows, 1), p=[0.1, 0.7, 0.2])
    noise = np.sqrt(variance) * rng.standard_normal((num_rows, 1))
    target = x @ np.array([[0.8], [-0.5]]) + 0.3 + noise
    design = np.column_stack([x, np.ones(num_rows)])
    by_row = (weight / variance)[:, 0]
    covariance = np.linalg.inv(precision * np.eye(3) + (design.T * by_row) @ design)
    mean = covariance @ (design.T * by_row) @ target[:, 0]
    data = NoisyDataset(*(part.astype(np.float32) for part in (x, target, weight, variance)))
    starts = build_networks(MLP(()), (2,), 1, jax.random.split(jax.random.key(2), 8))
    objective = Objective(GaussianNoiseGiven(), IsotropicPrior(np.float32(precision)))
    return LinearProblem(data, starts, objective, mean, covariance)
