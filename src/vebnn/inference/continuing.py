"""Chains that go on until they agree."""

import time
from typing import Any

import jax
import numpy as np

from vebnn.core.types import Array, Key
from vebnn.inference.diagnostics import FEWEST_DRAWS, NUM_INPUTS, diagnose_chains
from vebnn.inference.engine import Engine, Posterior, Problem
from vebnn.inference.evaluation import evaluate_draws, pool_chains
from vebnn.training import Stage
from vebnn.training.batches import MANY
from vebnn.training.processes import agreed

MOST_CONTINUATIONS = 2  # by default, each twice as long as the one before
# Variance between chains over that of the noise. The log-density of a target can gain half of it where
# all chains agree: less than 0.005, which is not worth the time that large tables take.
NEGLIGIBLE = 0.01


def last_draws(posterior: Posterior) -> Any:
    """Return the last draw of each chain, to start from."""
    return jax.tree.map(lambda leaf: leaf[:, -1], posterior.draws)


def run_until_mixed(
    key: Key,
    engine: Engine,
    problem: Problem,
    stage: Stage,
    probes: Array,
    *,
    most_continuations: int,
    deadline: float | None,
) -> Posterior:
    """Run an engine; while its chains disagree, continue them, each time twice as long.

    The draws of the last continuation replace the others.

    Args:
      probes: some inputs to predict.
      most_continuations: how often, if there is no deadline.
      deadline: time of ``time.monotonic``; a continuation that would end later is not begun.
    """
    started = time.monotonic()
    posterior = engine.run(key, problem, stage)
    number = 0
    while (longer := engine.continued(2 ** (number + 1))) is not None:
        now = time.monotonic()
        expected = now + 2 * (now - started)
        allowed = number < most_continuations if deadline is None else agreed(expected < deadline)
        if not allowed or _enough(posterior, probes, problem.data):
            break
        number, started = number + 1, now
        problem = problem._replace(starts=last_draws(posterior))
        within = stage.within(f"continuation {number}")
        posterior = longer.run(jax.random.fold_in(key, number), problem, within)
    return posterior


def _enough(posterior: Posterior, probes: Array, data: Any) -> bool:
    """Return whether chains agree or, of a large table, whether agreeing matters."""
    num_chains, num_draws = posterior.trace.shape[0], jax.tree.leaves(posterior.draws)[0].shape[1]
    if not posterior.markov or num_draws < FEWEST_DRAWS:
        return True  # R-hat says nothing
    some = np.unique(np.linspace(0, len(probes) - 1, NUM_INPUTS).round().astype(int))
    # At all probes, as the score of the round does it: another number would be another program.
    means = evaluate_draws(pool_chains(posterior.draws), probes)[:, some]
    by_chain = means.reshape(num_chains, num_draws, *means.shape[1:])
    if len(data.x) > MANY and num_chains > 1:
        between = by_chain.mean(1).var(0, ddof=1).mean(0)
        noise = np.average(data.noise_variance, weights=data.weight, axis=0)
        if np.all(between < NEGLIGIBLE * noise):
            return True
    return diagnose_chains(by_chain).mixed
