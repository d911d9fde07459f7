"""Stochastic gradient Hamiltonian Monte Carlo (Chen, Fox and Guestrin 2014, eq. 15)."""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp

from vebnn.core.arguments import require_number
from vebnn.core.prng import standard_normal
from vebnn.core.types import Array, Key
from vebnn.inference.step_size import EXCESS_VARIANCE, CurvatureSampler


class SGHMCState(NamedTuple):
    """Position and momentum of a chain, as flat vectors."""

    position: Array
    momentum: Array


@dataclass(frozen=True)
class SGHMC(CurvatureSampler):
    """Langevin dynamics with momentum: friction and noise balance to sample the posterior.

    Chen, Fox and Guestrin 2014, eq. 15. With g the gradient of the full-data negative log posterior,
    estimated from a mini-batch,

        v ← (1−a) v − η g + N(0, 2 a η T),
        θ ← θ + v.

    η is ``step_size``·``decay``^epoch, a ``friction`` and T ``temperature``. In a direction of
    curvature λ the variance comes out too large by a factor of about 1 + η λ (1/4 + (B−1)/(2a)), with
    B mini-batches per epoch: one part is the finite step, the other the noise of the mini-batches.

    Departures from Chen et al.: the estimate of the gradient noise (their β̂) is zero, as in their
    experiments, and the momentum is never resampled.

    ``step_size=None`` sets η = 0.1/(λ(1 + (B−1)/(2a))), with λ the largest curvature. All other
    arguments are those of :class:`~vebnn.inference.step_size.CurvatureSampler`.

    Args:
      friction: share of the momentum that is lost at each step.
    """

    friction: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number("friction", self.friction, 0, 1, "(]")

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

    def safe_step_size(self, curvature: float, num_batches: int) -> float:
        """Return an η that keeps both parts of the variance in excess small.

        The finite step is four times smaller than needed, because momentum carries a chain into
        steeper places.
        """
        return EXCESS_VARIANCE / (curvature * (1 + (num_batches - 1) / (2 * self.friction)))
