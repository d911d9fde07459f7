"""Stochastic gradient Hamiltonian Monte Carlo (Chen, Fox and Guestrin 2014, eq. 15)."""

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


class SGHMCState(NamedTuple):
    """Position and momentum of a chain, as flat vectors."""

    position: Array
    momentum: Array


@dataclass(frozen=True)
class SGHMC:
    """Langevin dynamics with momentum: friction and noise in the balance that samples the posterior.

    Chen, Fox and Guestrin 2014, eq. 15. With g the gradient of the full-data negative log posterior,
    estimated from a mini-batch,

        v ← (1−a) v − η g + N(0, 2 a η T),
        θ ← θ + v.

    η is ``step_size``·``decay``^epoch, a ``friction`` and T ``temperature``. In a direction of
    curvature λ the variance comes out too large by a factor of about 1 + η λ (1/4 + (B−1)/(2a)), with
    B mini-batches per epoch: one part is the finite step, the other the noise of the mini-batches.

    Departures from Chen et al.: the estimate of the gradient noise (their β̂) is zero, as in their
    experiments, and the momentum is never drawn anew.

    Args:
      num_samples: draws kept from each chain.
      burn_in: epochs before the first draw is due.
      thinning: epochs from one draw to the next.
      num_chains: independent chains; all are one compiled program.
      step_size: η of the first epoch; ``None`` sets η = 0.1/(λ(1 + (B−1)/(2a))), with λ the largest
        curvature where the pilot has led, whatever the number of rows or the size of the noise. The
        variance is then too large by at most about a tenth in the steepest direction, and by less
        in all others.
      decay: factor on η from one epoch to the next.
      friction: share of the momentum that is lost at each step.
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
    friction: float = 0.05
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
        require_number("friction", self.friction, 0, 1, "(]")
        require_number("temperature", self.temperature, 0, np.inf, "[)")

    @classmethod
    def for_rows(cls, num_rows: int) -> "SGHMC":
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

    def init(self, position: Array) -> SGHMCState:
        """Return the state of a chain that stands still at ``position``."""
        return SGHMCState(position, jnp.zeros_like(position))

    def step(self, key: Key, state: SGHMCState, gradient: Array, step_size: Array) -> SGHMCState:
        """Return the state after one update (eq. 15)."""
        noise_std = jnp.sqrt(2 * self.friction * step_size * self.temperature)
        noise = noise_std * standard_normal(key, gradient.size)
        momentum = (1 - self.friction) * state.momentum - step_size * gradient + noise
        return SGHMCState(state.position + momentum, momentum)

    def diagnose(self, state: SGHMCState, step_size: float) -> dict[str, Array]:
        """Return the temperature of the momenta at the end: ``temperature``, if steps are small.

        In equilibrium the variance of a momentum is η T/(1 − a/2). Noisy gradients heat it up.
        """
        heat = jnp.mean(state.momentum**2) * (1 - self.friction / 2) / step_size
        return {"kinetic_temperature": heat}

    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        """Return ``num_chains`` × ``num_samples`` draws, each chain from a warm start."""
        key_pilot, key_chains = jax.random.split(key)
        step_size = self.step_size
        if step_size is None:
            problem, curvature = send_pilot(
                key_pilot, problem, self.num_chains, self.batch_size, self.pilot, stage
            )
            num_batches, _ = batch_shape(len(problem.data.x), self.batch_size)
            # Four times as cautious with the finite step as needed: momentum carries a chain into
            # places that are steeper still.
            excess = 1 + (num_batches - 1) / (2 * self.friction)
            step_size = EXCESS_VARIANCE / (curvature * excess)
        return sample_chains(key_chains, self, problem, stage, step_size=step_size)
