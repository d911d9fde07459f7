"""The loop of stochastic gradient samplers, tested with a sampler that counts its steps."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.support.linear import flatten
from vebnn.core.types import Array, Key
from vebnn.inference import PSGLD
from vebnn.inference.sampling import ChainSampler, sample_chains
from vebnn.training import SILENT


class CounterState(NamedTuple):
    position: Array


@dataclass(frozen=True)
class Counter(ChainSampler):
    """Add the step size to every parameter at each step, so that a draw has the number of its step."""

    step_size: float = 1.0
    batch_size: int = 1_000

    def init(self, position: Array) -> CounterState:
        return CounterState(jnp.zeros_like(position))

    def step(self, key: Key, state: CounterState, gradient: Array, step_size: Array) -> CounterState:
        return CounterState(state.position + step_size)


@pytest.mark.parametrize(
    ("num_samples", "burn_in", "thinning"),
    [(1, 0, 1), (4, 0, 1), (3, 10, 5), (5, 7, 1), (2, 0, 40), (1, 30, 3)],
)
def test_draws_are_taken_at_the_right_epochs(
    linear, key, num_samples: int, burn_in: int, thinning: int
) -> None:
    sampler = Counter(num_samples, burn_in, thinning)
    posterior = sample_chains(key, sampler, linear.problem, SILENT)
    expected = burn_in + thinning * np.arange(1, num_samples + 1)
    np.testing.assert_array_equal(flatten(posterior.draws)[0, :, 0], expected)
    assert posterior.trace.shape == (1, burn_in + thinning * num_samples)
    assert posterior.markov


def test_an_epoch_has_as_many_steps_as_batches(linear, key: jax.Array) -> None:
    sampler = Counter(num_samples=2, burn_in=0, thinning=1, batch_size=20)
    draws = flatten(sample_chains(key, sampler, linear.problem, SILENT).draws)
    np.testing.assert_array_equal(draws[0, :, 0], [4, 8])  # 61 rows in batches of at most 20


def test_step_size_falls_from_epoch_to_epoch(linear, key: jax.Array) -> None:
    sampler = Counter(num_samples=3, burn_in=0, thinning=1, step_size=0.5, decay=0.1)
    draws = flatten(sample_chains(key, sampler, linear.problem, SILENT).draws)
    np.testing.assert_allclose(draws[0, :, 0], [0.5, 0.55, 0.555], rtol=1e-5)


def test_trace_is_the_objective_per_row(linear, key: jax.Array) -> None:
    sampler = Counter(num_samples=2, burn_in=0, thinning=1)
    trace = sample_chains(key, sampler, linear.problem, SILENT).trace
    # The position before the first step is zero, before the second one.
    design = np.column_stack([linear.data.x, np.ones(61)])
    for value, trace_value in zip((0.0, 1.0), trace[0], strict=True):
        residual = linear.data.target[:, 0] - design @ np.full(3, value)
        variance, weight = linear.data.noise_variance[:, 0], linear.data.weight[:, 0]
        likelihood = weight * (np.log(2 * np.pi * variance) + residual**2 / variance) / 2
        prior = 3 * (np.log(2 * np.pi) + value**2) / 2
        np.testing.assert_allclose(trace_value, (likelihood.sum() + prior) / 61, rtol=1e-5)


def test_chains_differ_and_are_reproducible(linear) -> None:
    sampler = PSGLD(num_samples=4, burn_in=5, thinning=2, num_chains=3, batch_size=16)
    one, same, other = (
        flatten(sampler.run(jax.random.key(seed), linear.problem, SILENT).draws) for seed in (0, 0, 1)
    )
    assert one.shape == (3, 4, 3)
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one, other)
    # Even from the same start, chains must have noise of their own.
    same_start = jax.tree.map(lambda leaf: np.stack([leaf[0]] * 3), linear.starts)
    draws = flatten(
        sampler.run(jax.random.key(0), linear.problem._replace(starts=same_start), SILENT).draws
    )
    assert not np.allclose(draws[0], draws[1])
    assert not np.allclose(draws[1], draws[2])
