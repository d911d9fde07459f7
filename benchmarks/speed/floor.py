"""The least a gradient step can cost: its matrix products, and nothing else."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.speed.cases import Case
from vebnn.core.workers import spread


def openblas(case: Case, step: int) -> tuple[Callable[[], Any], int]:
    """Return the products of Steps 1 or 3 in OpenBLAS; its threads are those of the process."""
    pairs = _gru_products(case) if case.recurrent else _perceptron_products(case)
    if step == 2:
        raise KeyError("the variance network is too small for products to matter")

    def job() -> None:
        for _ in range(case.steps):
            for left, right in pairs:
                left @ right

    return job, case.steps


def xla(case: Case, step: int) -> tuple[Callable[[], Any], int]:
    """Return the same for a perceptron with one hidden layer, compiled by XLA."""
    import jax
    import jax.numpy as jnp

    if case.recurrent or step == 2 or len(case.widths) > 1:
        raise KeyError("OpenBLAS does these")
    batch = min(case.batch, case.rows)
    x = jnp.ones((batch, *case.shape))
    weights = jnp.ones((case.widths[0], *case.shape)), jnp.ones((case.outputs, case.widths[0]))

    @jax.jit
    def products(first: jax.Array, second: jax.Array) -> tuple:
        def body(carry: tuple, _: None) -> tuple:
            first, second = carry
            hidden = x @ first.T
            output = hidden @ second.T
            gradients = (output @ second).T @ x, output.T @ hidden
            # A tiny update keeps the compiler from computing the products only once.
            return tuple(w + 1e-9 * g for w, g in zip(carry, gradients, strict=True)), None

        return jax.lax.scan(body, (first, second), None, length=case.steps)[0]

    return lambda: jax.block_until_ready(products(*weights)), case.steps


def splits(case: Case, runs: int) -> tuple[Callable[[], Any], int]:
    """Return the products of as many runs, spread over the cores: the most that the machine can do."""
    return lambda: list(spread(_one_split, [case] * runs)), 1


def _one_split(case: Case) -> None:
    job, _ = openblas(case, 1)
    with threadpool_limits(1):
        for _ in range(2):
            job()


def _perceptron_products(case: Case) -> list[tuple[np.ndarray, np.ndarray]]:
    batch = min(case.batch, case.rows)
    sizes = (*case.shape, *case.widths, case.outputs)
    pairs = []
    for number, (fan_in, fan_out) in enumerate(pairwise(sizes)):
        inputs, outputs, weights = _ones(batch, fan_in), _ones(batch, fan_out), _ones(fan_out, fan_in)
        pairs += [(inputs, weights.T), (outputs.T, inputs)]
        pairs += [(outputs, weights)] if number else []  # the data need no gradient
    return pairs


def _gru_products(case: Case) -> list[tuple[np.ndarray, np.ndarray]]:
    time, features = case.shape
    rows = case.rows * time
    sizes = (features, *case.widths)
    pairs = []
    for number, (fan_in, width) in enumerate(zip(sizes, case.widths, strict=False)):
        inputs, gates, weights = _ones(rows, fan_in), _ones(rows, 3 * width), _ones(fan_in, 3 * width)
        states, from_state = _ones(rows, width), _ones(width, 3 * width)
        pairs += [(inputs, weights), (inputs.T, gates), (states.T, gates)]
        pairs += [(gates, weights.T)] if number else []
        # What needs the state before goes step by step, forward and backward.
        one_state, one_gates = states[: case.rows], gates[: case.rows]
        pairs += [(one_state, from_state), (one_gates, from_state.T)] * time
    states, outputs = _ones(rows, case.widths[-1]), _ones(rows, case.outputs)
    weights = _ones(case.widths[-1], case.outputs)
    return [*pairs, (states, weights), (states.T, outputs), (outputs, weights.T)]


def _ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)
