"""Stochastic gradient samplers: their base class and compiled loop of burn-in, thinning and chains."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from vebnn.core.arguments import require_number, require_whole
from vebnn.core.types import AnyDataset, Array, Key, Params
from vebnn.inference.engine import Budget, Engine, Posterior, Problem
from vebnn.inference.evaluation import ravel_stacked, unravel_draws
from vebnn.training import (
    Objective,
    PlannedStage,
    Stage,
    gather,
    map_runs,
    replicate,
)
from vebnn.training.batches import (
    AllRows,
    all_rows_of,
    batch_shape,
    batches_of_epoch,
    count_rows,
    shuffled_batches,
    with_spare_rows,
)
from vebnn.training.fleet import fetch_share, key_of_share, mean_of_shares, shares_of
from vebnn.training.loop import raise_if_failed
from vebnn.training.streaming import release, stream_if_large

TRACE_ROOM = 8_192  # epochs: shorter chains have a trace of this length, and share a program


@dataclass(frozen=True)
class ChainSampler(Engine):
    """Abstract: a stochastic gradient sampler. A subclass adds one update, and settings of its own.

    Args:
      num_samples: draws kept from each chain.
      burn_in: epochs before the first draw is due.
      thinning: epochs from one draw to the next.
      num_chains: independent chains; all are one compiled program.
      step_size: η of the first epoch; ``None`` only for samplers that find one themselves.
      decay: factor on η from one epoch to the next.
      temperature: 1 samples the posterior; below 1 a sharper, "cold" one.
      batch_size: the most rows in a mini-batch.
      epoch_rows: the most rows of an epoch; of more, every epoch takes a random part. ``None``: all.
    """

    num_samples: int = 100
    burn_in: int = 5_000
    thinning: int = 100
    num_chains: int = 1
    step_size: float | None = None
    decay: float = 1.0
    temperature: float = 1.0
    batch_size: int = 256
    epoch_rows: int | None = None

    def __post_init__(self) -> None:
        fewest = {"num_samples": 1, "burn_in": 0, "thinning": 1, "num_chains": 1, "batch_size": 1}
        for name, smallest in fewest.items():
            require_whole(name, getattr(self, name), smallest)
        if self.epoch_rows is not None:
            require_whole("epoch_rows", self.epoch_rows, 1)
        if self.step_size is not None:
            require_number("step_size", self.step_size, 0, np.inf)
        require_number("decay", self.decay, 0, 1, "(]")
        require_number("temperature", self.temperature, 0, np.inf, "[)")

    @abstractmethod
    def init(self, position: Array) -> Any:
        """Return the state of a chain at ``position``, a flat vector; it has the field ``position``."""

    @abstractmethod
    def step(self, key: Key, state: Any, gradient: Array, step_size: Array) -> Any:
        """Return the state after one update."""

    @property
    def uses_curvature(self) -> bool:
        """Whether a fifth argument of ``step`` is the curvature: the diagonal of the Hessian."""
        return False

    def diagnose(self, state: Any, step_size: Any) -> dict[str, Array]:
        """Return named numbers on the last state of a chain."""
        return {}

    def without_lengths(self) -> Self:
        """Return a sampler whose updates are the same: what decides on a compiled program."""
        return replace(self, num_samples=1, burn_in=0, thinning=1, num_chains=1)

    @classmethod
    def for_budget(cls, budget: Budget) -> Self:
        """Return a sampler with the experiment's chains."""
        return cls(**budget.chains)

    @property
    def num_starts(self) -> int:
        """One warm start per chain."""
        return self.num_chains

    def plan(self, name: str, *, refit: bool) -> list[PlannedStage]:
        """Return the chains, as one stage."""
        return [PlannedStage(name, self.burn_in + self.thinning * self.num_samples, self.num_chains)]

    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        """Return ``num_chains`` × ``num_samples`` draws, each chain from a warm start."""
        return sample_chains(key, self, problem, stage)


class Lengths(NamedTuple):
    """Lengths of a sampler: inputs of the program, so that shorter chains share it."""

    burn_in: Array
    thinning: Array


class ChainState(NamedTuple):
    """The state of one chain between two epochs."""

    key: Key
    sampler: Any
    epoch: Array
    draws: Array  # (samples, parameters)
    trace: Array  # (epochs or more,): mean objective per row
    failed_step: Array  # the first step with a non-finite objective, or −1


class _Advance(eqx.Module):
    """Epochs of one chain, up to a given one."""

    objective: Objective
    sampler: ChainSampler
    like: Params  # shapes to unravel the flat vector into
    shares: int  # devices

    def __call__(
        self, shared: tuple[AnyDataset, Array | AllRows, Array, Array, Lengths], state: ChainState
    ) -> ChainState:
        data, rows, until, first_step_size, lengths = shared
        sampler = self.sampler
        num_batches, _ = batch_shape(rows.shape[0], sampler.batch_size)  # of all rows
        num_steps = batches_of_epoch(rows.shape[0], sampler.batch_size, sampler.epoch_rows)
        num_rows = count_rows(rows)
        _, unravel = ravel_pytree(self.like)

        def potential(flat: Array, batch: AnyDataset, key: Key) -> Array:
            # A share of a batch stands for as many: their mean is that of the batch.
            return self.objective(unravel(flat), batch, num_batches * self.shares, key)

        def step(carry: Any, inputs: Any) -> Any:
            state, step_size = carry
            batch, key_batch, key_noise = inputs
            batch = fetch_share(data, rows, batch, sampler.batch_size, self.shares)
            key_share = key_of_share(key_batch, self.shares)
            slope = jax.value_and_grad(potential)

            def found(flat: Array) -> tuple[Array, Array]:
                return mean_of_shares(slope(flat, batch, key_share), self.shares)

            if not sampler.uses_curvature:
                value, gradient = found(state.position)
                return (sampler.step(key_noise, state, gradient, step_size), step_size), value
            (value, gradient), curvature = with_curvature(key_batch, found, state.position)
            state = sampler.step(key_noise, state, gradient, step_size, curvature)  # type: ignore[call-arg]
            return (state, step_size), value

        def epoch(state: ChainState) -> ChainState:
            key, key_shuffle, key_batches, key_noise = jax.random.split(state.key, 4)
            batches = shuffled_batches(key_shuffle, data, rows, sampler.batch_size, sampler.epoch_rows)
            keys = (
                jax.random.split(key_batches, num_steps),
                jax.random.split(key_noise, num_steps),
            )
            step_size = first_step_size * sampler.decay ** state.epoch.astype(jnp.float32)
            (chain, _), values = jax.lax.scan(step, (state.sampler, step_size), (batches, *keys))
            number = state.epoch + 1
            # The objective is taken before a step, so the last step shows only in the position.
            finite = jnp.isfinite(values).at[-1].min(jnp.all(jnp.isfinite(chain.position)))
            bad_step = state.epoch * num_steps + jnp.argmin(finite).astype(jnp.int32) + 1
            # A draw is overwritten until its own epoch: no branch in the loop.
            due = jnp.maximum(number - lengths.burn_in, 1)
            slot = (due + lengths.thinning - 1) // lengths.thinning - 1
            return ChainState(
                key=key,
                sampler=chain,
                epoch=number,
                draws=state.draws.at[slot].set(chain.position),
                trace=state.trace.at[state.epoch].set(jnp.mean(values) / num_rows),
                failed_step=jnp.where(jnp.all(finite), state.failed_step, bad_step),
            )

        def go_on(state: ChainState) -> Array:
            return (state.epoch < until) & (state.failed_step < 0)

        # The sampler begins here: a program for its first state alone would have to be compiled, too.
        begin = lambda first, now: jnp.where(state.epoch == 0, first, now)  # noqa: E731
        begun = jax.tree.map(begin, sampler.init(state.sampler.position), state.sampler)
        return jax.lax.while_loop(go_on, epoch, state._replace(sampler=begun))


def with_curvature(
    key: Key, found: Callable[[Array], tuple[Array, Array]], position: Array
) -> tuple[tuple[Array, Array], Array]:
    """Return what ``found`` does, a value and its gradient, and an estimate of the Hessian's diagonal.

    z ∘ Hz, with z of random signs, has the diagonal as its mean (Bekas, Kokiopoulou and Saad 2007).
    """
    signs = jax.random.rademacher(key, position.shape, position.dtype)
    values, (_, product) = jax.jvp(found, (position,), (signs,))
    return values, signs * product


def sample_chains(
    key: Key, sampler: ChainSampler, problem: Problem, stage: Stage, *, step_size: float | None = None
) -> Posterior:
    """Run every chain of a sampler from one of the warm starts; ``step_size`` replaces its own.

    Raises:
      TrainingDiverged: if an objective became infinite or not a number.
    """
    total = sampler.burn_in + sampler.thinning * sampler.num_samples
    like = jax.tree.map(lambda leaf: leaf[0], problem.starts)
    shares = shares_of(problem.data.x, sampler.num_chains)
    advance_chain = _Advance(problem.objective, sampler.without_lengths(), like, shares)
    lengths = Lengths(np.int32(sampler.burn_in), np.int32(sampler.thinning))
    rows = all_rows_of(problem.data)  # those of all chains

    data = stream_if_large(with_spare_rows(problem.data))
    data, rows = replicate((data, rows), sampler.num_chains, shares=shares)
    # An input of the program, so that another step size needs no compilation.
    size = sampler.step_size if step_size is None else step_size
    require_number("step_size", size, 0, np.inf)
    first_step_size = np.float32(size)

    def advance(state: ChainState, until: int) -> ChainState:
        shared = (data, rows, np.int32(until), first_step_size, lengths)
        return map_runs(advance_chain, shared, state, shares=shares)

    def position(state: ChainState) -> int:
        failed = (np.asarray(state.failed_step) >= 0).any()
        return total if failed else int(np.asarray(state.epoch).min())

    def describe(state: ChainState) -> str:
        return "burn-in" if position(state) < sampler.burn_in else "drawing"

    states = _start(key, sampler, problem.warm_starts(sampler.num_chains), total)
    try:
        end = stage.run(advance, states, total, position, describe)
    finally:
        release(data)
    what = f"log posterior of {stage.name or 'the sampler'}"
    raise_if_failed(end.failed_step, what, "chain", "step_size")
    trace = gather(end.trace)[:, :total]
    info = {"objective_per_row": trace[:, sampler.burn_in :].mean(1)}
    last_step_size = first_step_size * sampler.decay ** (total - 1)
    info |= gather(_diagnose(sampler.without_lengths(), end.sampler, last_step_size))
    return Posterior(unravel_draws(like, gather(end.draws)), trace, True, info)


def _start(key: Key, sampler: ChainSampler, starts: Params, total: int) -> ChainState:
    """Return the state before the first epoch, in NumPy; the sampler begins in the compiled program."""
    flat = ravel_stacked(starts)
    num_chains, size = flat.shape
    states = jax.eval_shape(jax.vmap(sampler.init), flat)
    zeros = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), states)
    return ChainState(
        key=jax.random.split(key, num_chains),
        sampler=zeros._replace(position=flat),
        epoch=np.zeros(num_chains, np.int32),
        draws=np.zeros((num_chains, sampler.num_samples, size), flat.dtype),
        trace=np.full((num_chains, max(total, TRACE_ROOM)), np.nan, flat.dtype),
        failed_step=np.full(num_chains, -1, np.int32),
    )


@eqx.filter_jit
def _diagnose(sampler: ChainSampler, states: Any, step_size: Array) -> dict[str, Array]:
    return jax.vmap(lambda state: sampler.diagnose(state, step_size))(states)
