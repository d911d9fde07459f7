"""Samplers against a reference without Markov chains: prior draws, weighted by the likelihood."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from trust.simulated import Model
from vebnn.core.types import Array, Key, NoisyDataset
from vebnn.inference import Engine
from vebnn.inference.evaluation import evaluate_draws, pool_chains
from vebnn.training import SILENT

BLOCK = 100_000  # draws of the prior at a time
FEWEST = 5_000  # effective draws, so that the reference is more exact than what it judges
MOST_DATA_SETS = 20


class Reference(NamedTuple):
    """Mean and std of the posterior predictions at a model's places."""

    mean: np.ndarray
    std: np.ndarray
    size: float  # effective number of draws


def weighted_draws(model: Model, data: NoisyDataset, seed: int, num_blocks: int) -> Reference:
    """Return the posterior by importance sampling from the prior."""

    @jax.jit
    def block(key: Key) -> tuple[Array, Array]:
        outputs = jax.vmap(model.outputs)(model.draw_prior(key, BLOCK))
        misfit = jnp.sum((outputs[:, : len(model.x)] - data.target.T) ** 2, 1)
        return -misfit / 2 / model.noise_std**2, outputs[:, len(model.x) :]

    parts = [block(key) for key in jax.random.split(jax.random.key(seed), num_blocks)]
    log_weight, values = (np.concatenate(part).astype(float) for part in zip(*parts, strict=True))
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = weight @ values
    return Reference(mean, np.sqrt(weight @ (values - mean) ** 2), 1 / (weight**2).sum())


def simulate_with_reference(
    model: Model, seed: int, num_blocks: int
) -> tuple[NoisyDataset, Reference, int]:
    """Return the first simulated data with ``FEWEST`` effective draws, and how many came before.

    Weights of the prior that explain informative data are rare. Such data are passed over: what they
    would show is the error of the reference.
    """
    for number, key in enumerate(jax.random.split(jax.random.key(seed + 1), MOST_DATA_SETS)):
        _, data = model.simulate(key)
        reference = weighted_draws(model, data, seed, num_blocks)
        if reference.size >= FEWEST:
            return data, reference, number
    raise ValueError(f"The reference needs {FEWEST} effective draws. Got {reference.size:.0f} at last.")


def predictions(engine: Engine, model: Model, data: NoisyDataset, seed: int) -> np.ndarray:
    """Return the outputs of an engine's draws at the places, ``(draws, places)``."""
    key_starts, key_run = jax.random.split(jax.random.key(seed))
    problem = model.problem(key_starts, data, max(1, engine.num_starts))
    draws = engine.run(key_run, problem, SILENT).draws
    return evaluate_draws(pool_chains(draws), model.places)[..., 0].astype(float)


def errors(drawn: np.ndarray, reference: Reference) -> tuple[float, float]:
    """Return the largest error of a mean, in std, and the largest relative error of a std."""
    shift = np.abs(drawn.mean(0) - reference.mean) / reference.std
    return float(shift.max()), float(np.abs(drawn.std(0) / reference.std - 1).max())
