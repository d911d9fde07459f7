"""The no-U-turn sampler (Hoffman and Gelman 2014) through BlackJAX: the reference sampler."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from vebnn.core.arguments import require_number, require_whole
from vebnn.core.types import AnyDataset, Array, Key, Params
from vebnn.inference.engine import Posterior, Problem
from vebnn.inference.full_data import FullDataSampler, where
from vebnn.networks import Network
from vebnn.training import Objective, Stage


class NUTSState(NamedTuple):
    """All that the next transition of one chain needs."""

    key: Key
    chain: Any  # BlackJAX: position, log density, gradient
    step_sizes: Any  # BlackJAX: dual averaging
    metric: Any  # BlackJAX: inverse mass matrix, running moments
    step: Array
    draws: Array  # (samples, parameters)
    trace: Array  # (transitions,): objective per row
    acceptance: Array  # sums over the transitions after burn-in
    divergences: Array
    gradients: Array


@dataclass(frozen=True)
class NUTS(FullDataSampler):
    """Hamiltonian Monte Carlo that finds its own path length: exact up to Monte Carlo error.

    Hoffman and Gelman 2014, with multinomial sampling along the path (Betancourt 2017), as in
    BlackJAX. Every transition follows Hamilton's equations for the full-data log posterior until the
    path turns back on itself. Step size and a diagonal mass matrix are tuned in burn-in with Stan's
    schedule of windows.

    Every gradient uses all rows, and a draw takes up to 2^``max_tree_depth`` gradients: it is for small
    networks and few rows, and a reference for the other engines.

    ``info`` has, per chain, the number of ``divergences`` (a path that left the posterior; should be
    0), the mean ``acceptance`` (should be near ``target_acceptance``), ``gradients_per_transition`` and
    the ``step_size``.

    Departures: none from BlackJAX; needs ``pip install 'vebnn[nuts]'``.

    All other arguments are those of :class:`~vebnn.inference.full_data.FullDataSampler`.

    Args:
      target_acceptance: mean acceptance the step size is tuned for.
      max_tree_depth: how often a path may double.
    """

    target_acceptance: float = 0.8
    max_tree_depth: int = 10

    learns_scales = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number("target_acceptance", self.target_acceptance, 0, 1)
        require_whole("max_tree_depth", self.max_tree_depth, 1)

    @classmethod
    def for_rows(cls, num_rows: int) -> "NUTS":
        """Return settings that need no tuning: a few hundred transitions, whatever the data."""
        return cls(num_samples=100, burn_in=200, thinning=2, num_chains=4, max_tree_depth=8)

    def check(self, network: Network, x: Array) -> None:
        """Refuse to start without BlackJAX."""
        _blackjax()

    def chain(self, objective: Objective, like: Params) -> "_Chain":
        """Return the program of one chain."""
        return _Chain(objective, self, like)

    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        """Return ``num_chains`` × ``num_samples`` draws, each chain from a warm start."""
        _blackjax()
        with jax.numpy_rank_promotion("allow"):  # BlackJAX promotes ranks
            return super().run(key, problem, stage)

    def diagnose(self, end: NUTSState) -> dict[str, np.ndarray]:
        """Return divergences, acceptance, gradients per transition and the step size."""
        num_kept = self.thinning * self.num_samples
        return {
            "divergences": np.asarray(end.divergences),
            "acceptance": np.asarray(end.acceptance) / num_kept,
            "gradients_per_transition": np.asarray(end.gradients) / num_kept,
            "step_size": np.exp(np.asarray(end.step_sizes.log_step_size_avg)),
        }


class _Chain(eqx.Module):
    """One chain: its state before the first transition, and the transitions up to a given one."""

    objective: Objective
    settings: NUTS
    like: Params

    def log_density(self, data: AnyDataset) -> Any:
        _, unravel = ravel_pytree(self.like)
        return lambda position: -self.objective(unravel(position), data, 1)

    def begin(self, data: AnyDataset, run: tuple[Key, Params]) -> NUTSState:
        key, params = run
        blackjax, settings = _blackjax(), self.settings
        flat, _ = ravel_pytree(params)
        start_step_size, _, _ = blackjax.adaptation.step_size.dual_averaging_adaptation(
            settings.target_acceptance
        )
        start_metric, _, _ = blackjax.adaptation.mass_matrix.mass_matrix_adaptation()
        zero = jnp.float32(0)
        state = NUTSState(
            key=key,
            chain=blackjax.nuts.init(flat, self.log_density(data)),
            step_sizes=start_step_size(jnp.float32(1)),
            metric=start_metric(flat.size),
            step=jnp.int32(0),
            draws=jnp.zeros((settings.num_samples, flat.size), flat.dtype),
            trace=jnp.zeros(settings.num_transitions, flat.dtype),
            acceptance=zero,
            divergences=jnp.int32(0),
            gradients=zero,
        )
        # Python numbers inside BlackJAX's states would not survive a checkpoint.
        return jax.tree.map(jnp.asarray, state)

    def advance(self, shared: tuple[AnyDataset, Array], state: NUTSState) -> NUTSState:
        data, until = shared
        blackjax, settings = _blackjax(), self.settings
        log_density = self.log_density(data)
        kernel = blackjax.nuts.build_kernel()
        restart, tune, _ = blackjax.adaptation.step_size.dual_averaging_adaptation(
            settings.target_acceptance
        )
        _, observe, renew = blackjax.adaptation.mass_matrix.mass_matrix_adaptation()
        schedule = blackjax.adaptation.window_adaptation.build_schedule(settings.burn_in)
        # (transitions, 2): is the mass matrix learned here, and does its window end here?
        windows = jnp.asarray(schedule).astype(bool)

        def adapt(state: NUTSState, position: Array, acceptance: Array) -> tuple[Any, Any]:
            slow, window_ends = windows[jnp.minimum(state.step, settings.burn_in - 1)]
            step_sizes = tune(state.step_sizes, acceptance)
            metric = where(slow, observe(state.metric, position), state.metric)
            # After a new mass matrix, the step size is tuned again from the one just found.
            found = jnp.exp(step_sizes.log_step_size_avg)
            return where(window_ends, (restart(found), renew(metric)), (step_sizes, metric))

        def transition(state: NUTSState) -> NUTSState:
            key, key_move = jax.random.split(state.key)
            burning = state.step < settings.burn_in
            sizes = state.step_sizes
            log_size = jnp.where(burning, sizes.log_step_size, sizes.log_step_size_avg)
            chain, info = kernel(
                key_move,
                state.chain,
                log_density,
                jnp.exp(log_size),
                state.metric.inverse_mass_matrix,
                settings.max_tree_depth,
            )
            adapted = adapt(state, chain.position, info.acceptance_rate)
            step_sizes, metric = where(burning, adapted, (sizes, state.metric))
            number = state.step + 1
            kept = 1 - burning
            after = NUTSState(
                key=key,
                chain=chain,
                step_sizes=step_sizes,
                metric=metric,
                step=number,
                draws=state.draws.at[settings.slot(number)].set(chain.position),
                trace=state.trace.at[state.step].set(-chain.logdensity / data.x.shape[0]),
                acceptance=state.acceptance + kept * info.acceptance_rate,
                divergences=state.divergences + kept * info.is_divergent,
                gradients=state.gradients + kept * info.num_integration_steps,
            )
            # BlackJAX computes some numbers in JAX's widest type; a loop must keep its dtypes.
            return jax.tree.map(lambda new, old: new.astype(old.dtype), after, state)

        return jax.lax.while_loop(lambda state: state.step < until, transition, state)


def _blackjax() -> ModuleType:
    try:
        import blackjax
        import blackjax.adaptation.mass_matrix
        import blackjax.adaptation.step_size
        import blackjax.adaptation.window_adaptation
    except ImportError as error:
        raise ImportError("NUTS needs BlackJAX: pip install 'vebnn[nuts]'.") from error
    return blackjax
