"""Stochastic gradient Langevin dynamics (Welling and Teh 2011, eq. 4)."""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp

from vebnn.core.prng import standard_normal
from vebnn.core.types import Array, Key
from vebnn.inference.step_size import EXCESS_VARIANCE, CurvatureSampler


class SGLDState(NamedTuple):
    """Position of a chain, as one flat vector."""

    position: Array


@dataclass(frozen=True)
class SGLD(CurvatureSampler):
    """Gradient descent with the noise that makes it sample the posterior.

    Welling and Teh 2011, eq. 4. With g the gradient of the full-data negative log posterior,
    estimated from a mini-batch,

        θ ← θ − (η/2) g + N(0, T η).

    η is ``step_size``·``decay``^epoch and T ``temperature``. In a direction of curvature λ the
    variance comes out too large by a factor of about 1 + η λ B/4, with B mini-batches per epoch: one
    part is the finite step, B − 1 parts are the noise of the mini-batches.

    Departures from Welling and Teh: η falls geometrically or not at all, rather than as a power of
    the step, so that chains keep a small bias and keep moving.

    ``step_size=None`` sets η = 0.4/(λB), with λ the largest curvature. All arguments are those of
    :class:`~vebnn.inference.step_size.CurvatureSampler`.
    """

    def init(self, position: Array) -> SGLDState:
        """Return the state of a chain that stands at ``position``."""
        return SGLDState(position)

    def step(self, key: Key, state: SGLDState, gradient: Array, step_size: Array) -> SGLDState:
        """Return the state after one update (eq. 4)."""
        noise_std = jnp.sqrt(self.temperature * step_size)
        noise = noise_std * standard_normal(key, gradient.size)
        return SGLDState(state.position - 0.5 * step_size * gradient + noise)

    def safe_step_size(self, curvature: float, num_batches: int) -> float:
        """Return the η at which η λ B/4 is the variance in excess."""
        return 4 * EXCESS_VARIANCE / (curvature * num_batches)
