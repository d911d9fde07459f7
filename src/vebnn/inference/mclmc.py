"""Microcanonical Langevin Monte Carlo (Robnik et al. 2023), tuned in burn-in."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from vebnn.core.arguments import require_number
from vebnn.core.blocks import BLOCK_ROWS
from vebnn.core.types import AnyDataset, Array, Key, Params
from vebnn.inference.engine import Budget
from vebnn.inference.full_data import FullDataSampler, where
from vebnn.inference.isokinetic import Particle, Potential, move, refresh
from vebnn.networks import Network
from vebnn.training import Objective, all_rows, scale_of_rows
from vebnn.training.batches import NO_ROW, batch_shape, take, with_spare_rows

# At these shares of burn-in the scales are renewed, each time from the steps since the last renewal.
RENEWALS = (0.1, 0.2, 0.4, 0.8)
PRIOR_STEPS = 5  # steps that the scales of before count as, when they are renewed
FIRST_STEP = 1e-3  # in units of √d
GAIN = 0.3
CLIP = 5.0  # energy errors of networks have heavy tails: a few steps would decide the mean


class StepSize(NamedTuple):
    """Logarithm of the step size, and how often it was tuned since the last renewal of scales."""

    log: Array
    count: Array

    @classmethod
    def start(cls, log: Array) -> "StepSize":
        """Return a step size to be tuned."""
        return cls(log, jnp.float32(0))

    def tuned(self, ratio: Array) -> "StepSize":
        """Return the step size after one step of Robbins and Monro (1951) to a mean ratio of 1."""
        gain = GAIN / jnp.sqrt(1 + self.count)
        return StepSize(self.log + gain * (1 - ratio), self.count + 1)


class Spread(NamedTuple):
    """Running moments of each parameter since the last renewal of scales (Welford)."""

    count: Array
    mean: Array
    squared: Array  # sum of squared deviations
    squared_gradient: Array  # sum

    @classmethod
    def start(cls, like: Array) -> "Spread":
        """Return the moments of no position."""
        zeros = jnp.zeros_like(like)
        return cls(jnp.float32(0), zeros, zeros, zeros)

    def with_one_more(self, particle: Particle) -> "Spread":
        """Return the moments with one more position."""
        count = self.count + 1
        deviation = particle.position - self.mean
        mean = self.mean + deviation / count
        squared = self.squared + deviation * (particle.position - mean)
        return Spread(count, mean, squared, self.squared_gradient + particle.gradient**2)

    def scales(self, before: Array) -> Array:
        """Return (Var[θ] / E[g²])^¼ of each parameter, g its gradient.

        The std if parameters are independent and Gaussian. As in nutpie, gradients are used as well:
        a short chain has not seen the whole width, but gradients tell it.
        """
        count = self.count + PRIOR_STEPS
        variance = (self.squared + PRIOR_STEPS * before**2) / count
        precision = (self.squared_gradient + PRIOR_STEPS / before**2) / count
        return (variance / precision) ** 0.25


class MCLMCState(NamedTuple):
    """All that the next step of one chain needs."""

    key: Key
    particle: Particle
    step_size: StepSize
    spread: Spread
    scale: Array  # (parameters,): unit of length of each
    step: Array
    draws: Array  # (samples, parameters)
    trace: Array  # (steps,): objective per row
    energy: Array  # tuned ratio, summed over the steps after burn-in
    failures: Array  # steps after burn-in to a non-finite potential


@dataclass(frozen=True)
class MCLMC(FullDataSampler):
    """Follow paths of constant energy that turn at random: few gradients per independent draw.

    Microcanonical Langevin Monte Carlo (Robnik et al. 2023; Robnik and Seljak 2024), from warm starts
    as in microcanonical Langevin ensembles (Sommer et al. 2025). The dynamics are in
    ``inference/isokinetic.py``. A step takes two gradients over all rows, and none is rejected: the
    error of the energy measures the bias of finite steps, and the step size is tuned for it.

    In burn-in, the step size is tuned for the mean of min(r, 5) to be 1, where r is the squared
    error of the energy per parameter in units of ``energy_variance``; and each parameter gets a scale
    from its variance and its squared gradients.

    ``info`` has, per chain, that mean over the draws (``energy_variance``, should be near the setting),
    the ``step_size`` and the number of ``failures`` (steps to a non-finite log posterior; should be 0).

    Departures from Robnik et al.: r is clipped, because a few steps of a network's chain have errors
    many times the others'; scales also use gradients; the momentum is refreshed once per step;
    the length of memory is a setting.

    All other arguments are those of :class:`~vebnn.inference.full_data.FullDataSampler`; a transition
    is one step.

    Args:
      energy_variance: target of the squared error of the energy per parameter.
      decoherence_length: path after which the direction is forgotten, in units of the width
        √d of a posterior of d parameters. 1 is best for Gaussian posteriors, more for networks.
    """

    num_samples: int = 100
    burn_in: int = 1_000
    thinning: int = 20
    energy_variance: float = 5e-4
    decoherence_length: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number("energy_variance", self.energy_variance, 0, np.inf)
        require_number("decoherence_length", self.decoherence_length, 0, np.inf)

    @classmethod
    def for_rows(cls, num_rows: int) -> "MCLMC":
        """Return settings that need no tuning: 4,000 gradients, fewer beyond 1,000 rows.

        Six chains, one from each warm start of the default five folds and the mean network.
        """
        share = max(0.25, 1 / scale_of_rows(num_rows))
        return cls(40, round(1_000 * share), round(25 * share), 6)

    @classmethod
    def for_budget(cls, budget: Budget) -> "MCLMC":
        """Return a sampler with as many gradients as the experiment's chains; a step takes two."""
        burn_in, thinning = (max(1, budget.chains[name] // 2) for name in ("burn_in", "thinning"))
        return cls(budget.chains["num_samples"], burn_in, thinning, budget.chains.get("num_chains", 1))

    def check(self, network: Network, x: Array) -> None:
        """Refuse a network of one parameter: its momentum has no direction to turn to.

        Raises:
          ValueError: if there are fewer than two parameters.
        """
        num_parameters = sum(np.size(leaf) for leaf in jax.tree.leaves(network))
        if num_parameters < 2:
            raise ValueError(
                f"MCLMC needs a network of at least 2 parameters. Got {num_parameters}; "
                f"try `inference='nuts'`."
            )

    def chain(self, objective: Objective, like: Params) -> "_Chain":
        """Return the program of one chain."""
        return _Chain(objective, self, like)

    def prepare(self, data: AnyDataset) -> tuple[AnyDataset, Array]:
        """Return the rows in blocks, leaves ``(blocks, block rows, ...)``, and their number."""
        rows = np.asarray(all_rows(len(data.x))[0])
        num_blocks, size = batch_shape(len(rows), BLOCK_ROWS)
        rows = np.pad(rows, (0, num_blocks * size - len(rows)), constant_values=NO_ROW)
        taken = take(with_spare_rows(data), rows)
        blocks = jax.tree.map(lambda leaf: leaf.reshape(num_blocks, size, *leaf.shape[1:]), taken)
        return blocks, np.float32(len(data.x))

    def diagnose(self, end: MCLMCState) -> dict[str, np.ndarray]:
        """Return the error of the energy, the step size and the number of failed steps."""
        num_kept = self.thinning * self.num_samples
        return {
            "energy_variance": self.energy_variance * np.asarray(end.energy) / num_kept,
            "step_size": np.exp(np.asarray(end.step_size.log)),
            "failures": np.asarray(end.failures),
        }


class _Chain(eqx.Module):
    """One chain: its state before the first step, and the steps up to a given one."""

    objective: Objective
    settings: MCLMC
    like: Params

    def potential(self, blocks: AnyDataset) -> Potential:
        """Return the function for the negative log posterior and its gradient, block by block."""
        _, unravel = ravel_pytree(self.like)
        num_blocks = blocks.x.shape[0]

        def part(flat: Array, block: AnyDataset) -> Array:
            return self.objective(unravel(flat), block, num_blocks) / num_blocks

        def whole(flat: Array) -> tuple[Array, Array]:
            if num_blocks == 1:
                return jax.value_and_grad(part)(flat, jax.tree.map(lambda leaf: leaf[0], blocks))

            def add(total: Any, block: Any) -> Any:
                return jax.tree.map(jnp.add, total, jax.value_and_grad(part)(flat, block)), None

            return jax.lax.scan(add, (jnp.float32(0), jnp.zeros_like(flat)), blocks)[0]

        return whole

    def begin(self, data: tuple[AnyDataset, Array], run: tuple[Key, Params]) -> MCLMCState:
        key, params = run
        position, _ = ravel_pytree(params)
        at_rest = jnp.zeros_like(position)
        return MCLMCState(
            key=key,
            particle=Particle(position, at_rest, *self.potential(data[0])(position)),
            step_size=StepSize.start(jnp.float32(math.log(FIRST_STEP * math.sqrt(position.size)))),
            spread=Spread.start(position),
            scale=jnp.ones_like(position),
            step=jnp.int32(0),
            draws=jnp.zeros((self.settings.num_samples, position.size), position.dtype),
            trace=jnp.zeros(self.settings.num_transitions, position.dtype),
            energy=jnp.float32(0),
            failures=jnp.int32(0),
        )

    def advance(self, shared: tuple[tuple[AnyDataset, Array], Array], state: MCLMCState) -> MCLMCState:
        (blocks, num_rows), until = shared
        settings, potential = self.settings, self.potential(blocks)
        renewals = np.asarray([round(share * settings.burn_in) for share in RENEWALS], np.int32)

        def step(state: MCLMCState) -> MCLMCState:
            key, key_turn = jax.random.split(state.key)
            before, size = state.particle, jnp.exp(state.step_size.log)
            dimension = before.position.size
            length = settings.decoherence_length * math.sqrt(dimension)
            turned = before._replace(momentum=refresh(key_turn, before.momentum, size / length))
            after, error = move(potential, turned, state.scale, size)
            finite = jnp.isfinite(error) & jnp.all(jnp.isfinite(after.gradient))
            # A failed step is not taken; the next one goes in a random direction.
            stay = before._replace(momentum=jnp.zeros_like(before.momentum))
            particle = where(finite, after, stay)
            ratio = jnp.where(finite, error**2 / (dimension * settings.energy_variance), CLIP)
            ratio = jnp.minimum(ratio, CLIP)
            burning = state.step < settings.burn_in
            number = state.step + 1
            step_size, spread, scale = where(
                burning,
                _adapted(state, particle, ratio, jnp.any(number == renewals)),
                (state.step_size, state.spread, state.scale),
            )
            return MCLMCState(
                key=key,
                particle=particle,
                step_size=step_size,
                spread=spread,
                scale=scale,
                step=number,
                draws=state.draws.at[settings.slot(number)].set(particle.position),
                trace=state.trace.at[state.step].set(particle.potential / num_rows),
                energy=state.energy + jnp.where(burning, 0, ratio),
                failures=state.failures + jnp.where(burning | finite, 0, 1),
            )

        return jax.lax.while_loop(lambda state: state.step < until, step, state)


def _adapted(
    state: MCLMCState, particle: Particle, ratio: Array, renewing: Array
) -> tuple[StepSize, Spread, Array]:
    """Return step size, moments and scales after a step of burn-in."""
    step_size = state.step_size.tuned(ratio)
    spread = state.spread.with_one_more(particle)
    scale = spread.scales(state.scale)
    # In the new units, steps are as long as before on average.
    log_size = step_size.log - jnp.mean(jnp.log(scale / state.scale))
    renewed = (StepSize.start(log_size), Spread.start(scale), scale)
    return where(renewing, renewed, (step_size, spread, state.scale))
