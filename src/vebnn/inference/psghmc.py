"""Preconditioned stochastic gradient Hamiltonian Monte Carlo: Langevin dynamics with momentum."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from vebnn.core.arguments import require_number
from vebnn.core.prng import standard_normal
from vebnn.core.types import Array, Key
from vebnn.inference.sampling import ChainSampler
from vebnn.training import epoch_rows_of, epochs_of_steps, rows_of_epoch

LARGEST_VELOCITY = 5.0  # in standard deviations: a few steep gradients cannot throw a chain out
FORGETTING = 0.6  # power of the number of steps by which later gradients count less
WARM_STEPS = 20  # steps that the first gradients are averaged over
ONE_BATCH = 512  # rows: so few are one batch, because a smaller one saves little time and adds noise


class PSGHMCState(NamedTuple):
    """Position of a chain, as one flat vector, its velocity, and what sets its mass."""

    position: Array
    velocity: Array  # N(0, 1) at equilibrium
    squared_gradient: Array  # running mean V
    count: Array  # steps so far


@dataclass(frozen=True)
class PSGHMC(ChainSampler):
    """SGHMC (Chen et al. 2014) with a mass for each parameter, learned from its gradients.

    With g the gradient of the full-data negative log posterior, estimated from a mini-batch,

        V ← V + (g² − V)/k^0.6,   S = 1/√max(V, 1),
        v ← c (v − h S g) + N(0, T(1 − c²)),   c = exp(−γ h),
        θ ← θ + h S v.

    h is ``step_size``, γ ``friction``, T ``temperature`` and k the number of steps. At equilibrium the
    mean of g² is that of the curvature, so S is the width of the posterior along each parameter, and
    never more than that of an N(0, 1) prior. It settles as k grows. pSGLD's preconditioner keeps
    changing with the position, which it does not correct for: learned scales come out too small.

    All other arguments are those of :class:`~vebnn.inference.sampling.ChainSampler`.

    Args:
      friction: how fast a velocity is forgotten; above 1 for noisy gradients.
    """

    num_samples: int = 100
    step_size: float = 0.05
    friction: float = 0.3

    title = "pSGHMC"
    learns_scales = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number("step_size", self.step_size, 0, np.inf)
        require_number("friction", self.friction, 0, np.inf)

    @classmethod
    def for_rows(cls, num_rows: int) -> "PSGHMC":
        """Return settings that need no tuning, with a budget in steps rather than epochs.

        Six chains, one from each warm start of the default five folds and the mean network.
        """
        batch_size = ONE_BATCH if num_rows <= ONE_BATCH else cls.batch_size
        return cls(
            num_samples=40,
            burn_in=epochs_of_steps(3_000, rows_of_epoch(num_rows), batch_size, fewest=20),
            thinning=epochs_of_steps(100, rows_of_epoch(num_rows), batch_size, fewest=1),
            num_chains=6,
            batch_size=batch_size,
            epoch_rows=epoch_rows_of(num_rows),
        )

    def continued(self, factor: int) -> "PSGHMC":
        """Return chains with draws further apart; the burn-in lets the mass settle again."""
        return replace(self, thinning=factor * self.thinning)

    def resumed(self) -> "PSGHMC":
        """Return chains with a quarter of the burn-in, in which the mass settles again."""
        return replace(self, burn_in=self.burn_in // 4)

    def init(self, position: Array) -> PSGHMCState:
        """Return the state of a chain that stands at ``position``."""
        zeros = jnp.zeros_like(position)
        return PSGHMCState(position, zeros, zeros, jnp.float32(0))

    def step(self, key: Key, state: PSGHMCState, gradient: Array, step_size: Array) -> PSGHMCState:
        """Return the state after one update."""
        count = state.count + 1
        # The first gradient alone sets the first mass.
        gain = jnp.where(count == 1, 1.0, (WARM_STEPS + count) ** -FORGETTING)
        memory = state.squared_gradient + gain * (gradient**2 - state.squared_gradient)
        scale = 1 / jnp.sqrt(jnp.maximum(memory, 1.0))
        kept = jnp.exp(-self.friction * step_size)
        noise = jnp.sqrt(self.temperature * (1 - kept**2)) * standard_normal(key, gradient.size)
        velocity = kept * (state.velocity - step_size * scale * gradient) + noise
        velocity = jnp.clip(velocity, -LARGEST_VELOCITY, LARGEST_VELOCITY)
        return PSGHMCState(state.position + step_size * scale * velocity, velocity, memory, count)

    def diagnose(self, state: PSGHMCState, step_size: Any) -> dict[str, Array]:
        """Return the mean squared velocity; above 1, steps are too long or gradients too noisy."""
        return {"temperature": jnp.mean(state.velocity**2)}
