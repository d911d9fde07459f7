"""Step sizes from curvature, for samplers without a preconditioner: SGLD and SGHMC.

Their step size has to suit the steepest direction of the posterior. At a trained network the curvature
is misleading: on the way to the bulk of the posterior weights grow to the size of the prior, and the
curvature with them. So pilot chains of pSGLD, which adapts to the scale of each parameter, go there
first, and the curvature is measured where they end.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from vebnn.core.arguments import require_whole
from vebnn.core.types import AnyDataset, Array, Key, Params
from vebnn.inference.engine import Posterior, Problem
from vebnn.inference.psgld import PSGLD
from vebnn.inference.sampling import ChainSampler, sample_chains
from vebnn.training import (
    Objective,
    PlannedStage,
    Stage,
    epoch_rows_of,
    epochs_of_steps,
    gather,
    map_runs,
    rows_of_epoch,
)
from vebnn.training.batches import batch_shape, round_size

# By how much the default step size may widen the posterior in its steepest direction.
EXCESS_VARIANCE = 0.1
PILOT = "pilot"  # the stage
NUM_ITERATIONS = 30  # of the power method
MOST_ROWS = 2_048  # from which a curvature is estimated


@dataclass(frozen=True)
class CurvatureSampler(ChainSampler):
    """Abstract: settings and run of a sampler whose step size may be left open.

    All other arguments are those of :class:`~vebnn.inference.sampling.ChainSampler`.

    Args:
      step_size: η of the first epoch; ``None`` sets it from the largest curvature at the end of the
        pilot chains. The variance is then too large by at most about a tenth in the steepest
        direction, and by less in all others.
      pilot: epochs of pSGLD before the burn-in, if ``step_size`` is ``None``; chains start where
        they end.
    """

    pilot: int = 1_500

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("pilot", self.pilot, 1)

    @classmethod
    def for_rows(cls, num_rows: int) -> Self:
        """Return settings that need no tuning, with a budget in steps rather than epochs.

        Six chains, one from each warm start of the default five folds and the mean network.
        """
        return cls(
            num_samples=40,
            burn_in=epochs_of_steps(2_500, rows_of_epoch(num_rows), cls.batch_size, fewest=20),
            thinning=epochs_of_steps(100, rows_of_epoch(num_rows), cls.batch_size, fewest=1),
            num_chains=6,
            epoch_rows=epoch_rows_of(num_rows),
            pilot=epochs_of_steps(1_500, rows_of_epoch(num_rows), cls.batch_size, fewest=20),
        )

    @abstractmethod
    def safe_step_size(self, curvature: float, num_batches: int) -> float:
        """Return the step size that widens the steepest direction by ``EXCESS_VARIANCE`` at most."""

    def plan(self, name: str, *, refit: bool) -> list[PlannedStage]:
        """Return the pilot chains, if there are any, and the chains."""
        pilot = PlannedStage(f"{name} · {PILOT}", self.pilot, self.num_chains)
        return [pilot] * (self.step_size is None) + super().plan(name, refit=refit)

    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        """Return ``num_chains`` × ``num_samples`` draws, each chain from a warm start."""
        key_pilot, key_chains = jax.random.split(key)
        step_size = self.step_size
        if step_size is None:
            key_pilot, key_curvature = jax.random.split(key_pilot)
            problem = self._after_pilot(key_pilot, problem, stage)
            curvature = largest_curvature(key_curvature, problem, self.num_chains)
            num_batches, _ = batch_shape(round_size(len(problem.data.x)), self.batch_size)
            step_size = self.safe_step_size(curvature, num_batches)
        return sample_chains(key_chains, self, problem, stage, step_size=step_size)

    def _after_pilot(self, key: Key, problem: Problem, stage: Stage) -> Problem:
        """Return the problem with the ends of pSGLD chains, of falling step size, as its starts."""
        pilot = PSGLD(
            num_samples=1,
            burn_in=self.pilot - 1,
            thinning=1,
            num_chains=self.num_chains,
            step_size=5e-3,
            decay=0.1 ** (1 / self.pilot),
            batch_size=self.batch_size,
        )
        draws = pilot.run(key, problem, stage.within(PILOT)).draws
        return problem._replace(starts=jax.tree.map(lambda leaf: leaf[:, 0], draws))


def largest_curvature(key: Key, problem: Problem, num_chains: int) -> float:
    """Return the largest eigenvalue of the Hessian of the negative log posterior at the starts.

    Power iteration with Hessian-vector products; it finds the eigenvalue of largest magnitude, which
    bounds the step size. At most ``num_chains`` starts are used, and of more than ``MOST_ROWS`` rows
    evenly spaced ones.
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
    num_batches: float  # all rows over the rows used, as if these were one mini-batch

    def __call__(self, data: AnyDataset, run: tuple[Key, Params]) -> Array:
        key, params = run
        flat, unravel = ravel_pytree(params)

        def potential(flat: Array) -> Array:
            return self.objective(unravel(flat), data, self.num_batches)  # type: ignore[arg-type]

        def multiply(vector: Array, _: Any) -> tuple[Array, Array]:
            product = jax.jvp(jax.grad(potential), (flat,), (vector,))[1]
            length = jnp.linalg.norm(product)
            return product / jnp.maximum(length, 1e-30), length

        start = jax.random.normal(key, flat.shape)
        start = start / jnp.linalg.norm(start)
        return jax.lax.scan(multiply, start, length=NUM_ITERATIONS)[1][-1]
