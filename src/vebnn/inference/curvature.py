"""How steep a posterior is: the scale that a step size without preconditioner has to know.

A trained network is a poor place to measure it: on the way from there to where the posterior has
its mass, weights grow to the size of the prior, and the curvature with them. So a pilot of pSGLD,
whose step adapts to the scale of each parameter, goes there first.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from vebnn.core.types import Array, Dataset, Key, Params
from vebnn.inference.problem import Problem
from vebnn.inference.psgld import PSGLD
from vebnn.training import Objective, Stage, gather, map_runs

NUM_ITERATIONS = 30
MOST_ROWS = 2_048  # enough rows to know a curvature by


def send_pilot(
    key: Key, problem: Problem, num_chains: int, batch_size: int, num_epochs: int, stage: Stage
) -> tuple[Problem, float]:
    """Go to where the posterior has its mass, and measure how steep it is there.

    Args:
      key: random key.
      problem: the posterior.
      num_chains: chains of pSGLD, each from a warm start.
      batch_size: the most rows in a mini-batch.
      num_epochs: how long they run; their step size falls to a tenth meanwhile.
      stage: name and watcher of the work around it.

    Returns:
      The problem with the ends of the chains as its starts, and the largest curvature there.
    """
    key_chains, key_curvature = jax.random.split(key)
    sampler = PSGLD(
        num_samples=1,
        burn_in=num_epochs - 1,
        thinning=1,
        num_chains=num_chains,
        step_size=5e-3,
        decay=0.1 ** (1 / num_epochs),
        batch_size=batch_size,
    )
    draws = sampler.run(key_chains, problem, stage.within("pilot")).draws
    arrived = problem._replace(starts=jax.tree.map(lambda leaf: leaf[:, 0], draws))
    return arrived, largest_curvature(key_curvature, arrived, num_chains)


def largest_curvature(key: Key, problem: Problem, num_chains: int) -> float:
    """Return the largest eigenvalue of the Hessian of the negative log posterior at the starts.

    Power iteration with Hessian-vector products. It sees the eigenvalue that is largest in size,
    and that is the one which decides whether a step is too long. On a data set of more than
    ``MOST_ROWS`` rows, evenly spaced ones stand for all.

    Args:
      key: random key.
      problem: the posterior.
      num_chains: as many starts are looked at, but none twice; the steepest one counts.
    """
    size = len(problem.data.x)
    some = np.unique(np.linspace(0, size - 1, min(size, MOST_ROWS)).round().astype(int))
    data = jax.tree.map(lambda leaf: leaf[some], problem.data)
    num_starts = min(num_chains, jax.tree.leaves(problem.starts)[0].shape[0])
    runs = (jax.random.split(key, num_starts), problem.warm_starts(num_starts))
    values = gather(map_runs(_PowerIteration(problem.objective, size / len(some)), data, runs))
    return float(np.max(values))


class _PowerIteration(eqx.Module):
    objective: Objective
    rows_per_row: float  # how many rows each of the rows stands for

    def __call__(self, data: Dataset, run: tuple[Key, Params]) -> Array:
        key, params = run
        flat, unravel = ravel_pytree(params)

        def potential(flat: Array) -> Array:
            return self.objective(unravel(flat), data, self.rows_per_row)  # type: ignore[arg-type]

        def multiply(vector: Array, _: Any) -> tuple[Array, Array]:
            product = jax.jvp(jax.grad(potential), (flat,), (vector,))[1]
            length = jnp.linalg.norm(product)
            return product / jnp.maximum(length, 1e-30), length

        start = jax.random.normal(key, flat.shape)
        start = start / jnp.linalg.norm(start)
        return jax.lax.scan(multiply, start, length=NUM_ITERATIONS)[1][-1]
