"""Stochastic gradient Langevin dynamics (Welling and Teh 2011, eq. 4)."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vebnn.arguments import require_number, require_whole
from vebnn.inference.curvature import send_pilot
from vebnn.inference.noise import standard_normal
from vebnn.inference.problem import Posterior, Problem
from vebnn.inference.sampling import sample_chains
from vebnn.training import Stage, epochs_of_steps
from vebnn.training.batches import batch_shape
from vebnn.types import Array, Key

# By how much the default step size may widen the posterior in its steepest direction.
EXCESS_VARIANCE = 0.1


class SGLDState(NamedTuple):
    """Position of a chain, as one flat vector."""

    position: Array


@dataclass(frozen=True)
class SGLD:
    """Gradient descent with just as much noise as makes it sample the posterior.

    Welling and Teh 2011, eq. 4. With g the gradient of the full-data negative log posterior,
    estimated from a mini-batch,

        θ ← θ − (η/2) g + N(0, T η).

    η is ``step_size``·``decay``^epoch and T ``temperature``. In a direction of curvature λ the
    variance comes out too large by a factor of about 1 + η λ B/4, with B mini-batches per epoch: one
    part is the finite step, B − 1 parts are the noise of the mini-batches.

    Departures from Welling and Teh: η falls geometrically or not at all, rather than as a power of
    the step, so that chains keep a small bias and go on moving.

    Args:
      num_samples: draws kept from each chain.
      burn_in: epochs before the first draw is due.
      thinning: epochs from one draw to the next.
      num_chains: independent chains; all are one compiled program.
      step_size: η of the first epoch; ``None`` sets η = 0.4/(λB), with λ the largest curvature where
        the pilot has led, whatever the number of rows or the size of the noise. The variance is then
        too large by about a tenth in the steepest direction, and by less in all others.
      decay: factor on η from one epoch to the next.
      temperature: 1 samples the posterior; below 1 a sharper, "cold" one.
      batch_size: the most rows in a mini-batch.
      pilot: epochs of pSGLD ahead of the burn-in, if ``step_size`` is ``None``; chains go on from
        where they lead.
    """

    num_samples: int = 100
    burn_in: int = 5_000
    thinning: int = 100
    num_chains: int = 1
    step_size: float | None = None
    decay: float = 1.0
    temperature: float = 1.0
    batch_size: int = 256
    pilot: int = 1_500

    def __post_init__(self) -> None:
        for name, fewest in (("num_samples", 1), ("burn_in", 0), ("thinning", 1), ("num_chains", 1)):
            require_whole(name, getattr(self, name), fewest)
        for name in ("pilot", "batch_size"):
            require_whole(name, getattr(self, name), 1)
        if self.step_size is not None:
            require_number("step_size", self.step_size, 0, np.inf)
        require_number("decay", self.decay, 0, 1, "(]")
        require_number("temperature", self.temperature, 0, np.inf, "[)")

    @classmethod
    def for_rows(cls, num_rows: int) -> "SGLD":
        """Return settings that need no tuning, with a budget in steps rather than epochs.

        Six chains, one from each warm start of the default five folds and the mean network.
        """
        return cls(
            num_samples=40,
            burn_in=epochs_of_steps(2_500, num_rows, cls.batch_size, fewest=20),
            thinning=epochs_of_steps(100, num_rows, cls.batch_size, fewest=1),
            num_chains=6,
            pilot=epochs_of_steps(1_500, num_rows, cls.batch_size, fewest=20),
        )

    def init(self, position: Array) -> SGLDState:
        """Return the state of a chain that stands at ``position``."""
        return SGLDState(position)

    def step(self, key: Key, state: SGLDState, gradient: Array, step_size: Array) -> SGLDState:
        """Return the state after one update (eq. 4)."""
        noise_std = jnp.sqrt(self.temperature * step_size)
        noise = noise_std * standard_normal(key, gradient.size)
        return SGLDState(state.position - 0.5 * step_size * gradient + noise)

    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        """Return ``num_chains`` × ``num_samples`` draws, each chain from a warm start."""
        key_pilot, key_chains = jax.random.split(key)
        step_size = self.step_size
        if step_size is None:
            problem, curvature = send_pilot(
                key_pilot, problem, self.num_chains, self.batch_size, self.pilot, stage
            )
            num_batches, _ = batch_shape(len(problem.data.x), self.batch_size)
            step_size = 4 * EXCESS_VARIANCE / (curvature * num_batches)
        return sample_chains(key_chains, self, problem, stage, step_size=step_size)
