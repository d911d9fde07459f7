"""Preconditioned stochastic gradient Langevin dynamics (Li et al. 2016, Algorithm 1)."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from vebnn.core.arguments import require_number
from vebnn.core.prng import standard_normal
from vebnn.core.types import Array, Key
from vebnn.inference.sampling import ChainSampler
from vebnn.training import epoch_rows_of, epochs_of_steps, rows_of_epoch, scale_of_rows


class PSGLDState(NamedTuple):
    """Position of a chain, as one flat vector, and its preconditioner's memory."""

    position: Array
    squared_gradient: Array  # V


@dataclass(frozen=True)
class PSGLD(ChainSampler):
    """Langevin dynamics whose step adapts to the scale of each parameter, as RMSProp does.

    With g the gradient of the full-data negative log posterior, estimated from a mini-batch,

        V ← αV + (1−α) g²,   G = 1/√(V+ε),
        θ ← θ − (η/2) G g + N(0, T η G).

    α is ``smoothing``, ε ``stability``, η ``step_size``·``decay``^epoch and T ``temperature``.

    Departures from Li et al.: the term Γ, which corrects for the change of G with θ, is dropped unless
    asked for, and ε is inside the root; both as in the paper's own experiments.

    All other arguments are those of :class:`~vebnn.inference.sampling.ChainSampler`.

    Args:
      smoothing: memory of the squared gradient.
      stability: keeps G finite where gradients vanish.
      correction: add T (η/2) Γ with Γ = ∂G/∂θ = −(1−α) (V+ε)^(−3/2) g ∂g/∂θ to the step. It takes a
        Hessian-vector product per step, which about doubles its time. Without it, a chain without
        memory (α = 0) samples p(θ)/G(θ). With a memory it corrects only for the last gradient in V. The
        product is a noisy estimate of ∂g/∂θ: in networks, where (V+ε)^(−3/2) is large, it can drive
        chains away.
    """

    num_samples: int = 150
    step_size: float = 1e-3
    decay: float = 0.9999
    smoothing: float = 0.99
    stability: float = 1e-5
    correction: bool = False

    title = "pSGLD"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number("step_size", self.step_size, 0, np.inf)
        require_number("stability", self.stability, 0, np.inf)
        require_number("smoothing", self.smoothing, 0, 1, "[)")

    @classmethod
    def for_rows(cls, num_rows: int) -> "PSGLD":
        """Return settings that need no tuning, with a budget in steps rather than epochs.

        Six chains, one from each warm start of the default five folds and the mean network; the
        step size falls to a tenth over the run. Posteriors of more rows are narrower, by the square
        root of their number, and so are the steps: otherwise their noise would be the larger part
        of the spread.
        """
        burn_in = epochs_of_steps(3_000, rows_of_epoch(num_rows), cls.batch_size, fewest=20)
        thinning = epochs_of_steps(100, rows_of_epoch(num_rows), cls.batch_size, fewest=1)
        total = burn_in + 40 * thinning
        return cls(
            num_samples=40,
            burn_in=burn_in,
            thinning=thinning,
            num_chains=6,
            epoch_rows=epoch_rows_of(num_rows),
            step_size=5e-3 / scale_of_rows(num_rows),
            decay=0.1 ** (1 / total),
        )

    def init(self, position: Array) -> PSGLDState:
        """Return the state of a chain that stands at ``position``."""
        return PSGLDState(position, jnp.zeros_like(position))

    @property
    def uses_curvature(self) -> bool:
        """Γ needs ∂g/∂θ."""
        return self.correction

    def step(
        self,
        key: Key,
        state: PSGLDState,
        gradient: Array,
        step_size: Array,
        curvature: Array | None = None,
    ) -> PSGLDState:
        """Return the state after one update (Algorithm 1 of Li et al.); Γ needs the curvature."""
        memory = self.smoothing * state.squared_gradient + (1 - self.smoothing) * gradient**2
        preconditioner = 1 / jnp.sqrt(memory + self.stability)
        drift = -0.5 * step_size * preconditioner * gradient
        if curvature is not None:
            change = -(1 - self.smoothing) * preconditioner**3 * gradient * curvature
            drift = drift + 0.5 * step_size * self.temperature * change
        noise_std = jnp.sqrt(self.temperature * step_size * preconditioner)
        noise = noise_std * standard_normal(key, gradient.size)
        return PSGLDState(state.position + drift + noise, memory)

    def with_short_steps(self) -> "PSGLD":
        """Return the engine with the paper's step size, constant.

        The first steps of :meth:`for_rows` are its longest, and can move a mode of the noise onto
        another one, where it stays.
        """
        return replace(self, step_size=PSGLD.step_size, decay=1.0)
