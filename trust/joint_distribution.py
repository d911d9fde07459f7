"""The joint-distribution test (Geweke 2004) of pSGLD's update.

Two ways to draw weights and data together must agree. One draws weights from the prior, then data from
the likelihood. The other continues from such a pair by turns: updates of the sampler given the data,
then new data given the weights. A wrong gradient, step or noise makes the second one drift away.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from scipy.stats import norm

from trust.simulated import OBJECTIVE, Model
from vebnn.core.types import Array, Key
from vebnn.inference import PSGLD
from vebnn.networks import Network

UPDATES = 20  # of the sampler between two draws of the data
# With so long a memory the preconditioner is almost constant, and the term Γ that pSGLD drops vanishes.
SAMPLER = PSGLD(step_size=3e-3, smoothing=0.9999)


def statistics(model: Model, network: Network, target: Array) -> Array:
    """Return functions of weights and data whose means are compared."""
    here, there = jnp.split(model.outputs(network), [len(model.x)])
    flat, misfit = ravel_pytree(network)[0], target - here
    means = [jnp.mean(part) for part in (flat, flat**2, target, target**2, misfit**2, misfit * target)]
    return jnp.concatenate([there, there**2, jnp.stack(means)])


def draw_target(model: Model, key: Key, network: Network) -> Array:
    """Draw data from the likelihood."""
    size = len(model.x)
    return model.outputs(network)[:size] + model.noise_std * jax.random.normal(key, (size,))


def chain_means(model: Model, sampler: PSGLD, key: Key, network: Network, num_turns: int) -> Array:
    """Return the mean statistics of one chain over the second half of its turns."""
    key_target, key_turns = jax.random.split(key)
    flat, unravel = ravel_pytree(network)
    step_size = jnp.float32(sampler.step_size)

    def turn(carry: Any, key: Key) -> Any:
        state, target = carry
        key_target, key_updates = jax.random.split(key)
        gradient = jax.grad(lambda flat: OBJECTIVE(unravel(flat), model.data(target), 1))

        def update(state: Any, key: Key) -> Any:
            return sampler.step(key, state, gradient(state.position), step_size), None

        state, _ = jax.lax.scan(update, state, jax.random.split(key_updates, UPDATES))
        network = unravel(state.position)
        target = draw_target(model, key_target, network)
        return (state, target), statistics(model, network, target)

    start = (sampler.init(flat), draw_target(model, key_target, network))
    _, values = jax.lax.scan(turn, start, jax.random.split(key_turns, num_turns))
    return jnp.mean(values[num_turns // 2 :], 0)


def joint_distribution_scores(
    model: Model,
    seed: int,
    num_chains: int,
    num_turns: int,
    *,
    sampler: PSGLD = SAMPLER,
    num_direct: int = 200_000,
) -> np.ndarray:
    """Return the z score of each statistic, chains against direct draws.

    Chains are independent: the spread of their means gives the standard error.
    """
    keys = jax.random.split(jax.random.key(seed), 4)

    @jax.jit
    def chains(keys: Key, networks: Network) -> Array:
        return jax.vmap(lambda *run: chain_means(model, sampler, *run, num_turns))(keys, networks)

    @jax.jit
    def direct(keys: Key, networks: Network) -> Array:
        def one(key: Key, network: Network) -> Array:
            return statistics(model, network, draw_target(model, key, network))

        return jax.vmap(one)(keys, networks)

    means = chains(jax.random.split(keys[0], num_chains), model.draw_prior(keys[1], num_chains))
    draws = direct(jax.random.split(keys[2], num_direct), model.draw_prior(keys[3], num_direct))
    means, draws = np.asarray(means, float), np.asarray(draws, float)
    variance = means.var(0) / num_chains + draws.var(0) / num_direct
    return (means.mean(0) - draws.mean(0)) / np.sqrt(variance)


def p_value(scores: np.ndarray) -> float:
    """Return the p of the largest score, times the number of scores (Bonferroni)."""
    return float(min(1, 2 * len(scores) * norm.sf(np.abs(scores).max())))
