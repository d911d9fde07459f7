"""Samplers without a preconditioner: what SGLD and SGHMC share.

Their step size has to suit the steepest direction of the posterior. Left open, it is found out: a
pilot goes to where the posterior has its mass and measures how steep it is there.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import jax
import numpy as np

from vebnn.core.arguments import require_number, require_whole
from vebnn.core.types import Array, Key
from vebnn.inference.curvature import send_pilot
from vebnn.inference.problem import Posterior, Problem
from vebnn.inference.sampling import check_chains, sample_chains
from vebnn.training import Stage, epochs_of_steps
from vebnn.training.batches import batch_shape, round_size

# By how much the default step size may widen the posterior in its steepest direction.
EXCESS_VARIANCE = 0.1


@dataclass(frozen=True)
class CurvatureSampler:
    """Abstract: settings and run of a sampler whose step size may be left open.

    Args:
      num_samples: draws kept from each chain.
      burn_in: epochs before the first draw is due.
      thinning: epochs from one draw to the next.
      num_chains: independent chains; all are one compiled program.
      step_size: η of the first epoch; ``None`` finds it from the largest curvature where the pilot
        has led, whatever the number of rows or the size of the noise. The variance is then too large
        by at most about a tenth in the steepest direction, and by less in all others.
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
        check_chains(self)
        require_whole("pilot", self.pilot, 1)
        if self.step_size is not None:
            require_number("step_size", self.step_size, 0, np.inf)

    @classmethod
    def for_rows(cls, num_rows: int) -> Self:
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

    @abstractmethod
    def init(self, position: Array) -> Any:
        """Return the state of a chain that stands at ``position``."""

    @abstractmethod
    def step(self, key: Key, state: Any, gradient: Array, step_size: Array) -> Any:
        """Return the state after one update."""

    @abstractmethod
    def safe_step_size(self, curvature: float, num_batches: int) -> float:
        """Return the step size that widens the steepest direction by ``EXCESS_VARIANCE`` at most."""

    @property
    def num_starts(self) -> int:
        """One warm start per chain."""
        return self.num_chains

    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        """Return ``num_chains`` × ``num_samples`` draws, each chain from a warm start."""
        key_pilot, key_chains = jax.random.split(key)
        step_size = self.step_size
        if step_size is None:
            problem, curvature = send_pilot(
                key_pilot, problem, self.num_chains, self.batch_size, self.pilot, stage
            )
            num_batches, _ = batch_shape(round_size(len(problem.data.x)), self.batch_size)
            step_size = self.safe_step_size(curvature, num_batches)
        return sample_chains(key_chains, self, problem, stage, step_size=step_size)
