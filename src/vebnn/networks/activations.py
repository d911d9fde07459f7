"""Activations by name, mixtures of them, and a sine that is as fast as the others."""

from collections.abc import Callable
from math import pi
from typing import Any

import jax
import jax.numpy as jnp

from vebnn.core.types import Array

# sin 2πr ≈ r (1 − 4r²) (c₀ + c₁r² + … + c₄r⁸) for |r| ≤ 1/2, to 9e-8: the smallest largest error.
COEFFICIENTS = (6.28318296, -16.2086822, 16.7610482, -9.53045387, 3.05607225)


@jax.custom_jvp
def sine(x: Array) -> Array:
    """Return sin x, to 1e-6 for |x| < 10.

    XLA's own is exact for huge angles, and slow on a CPU: the part "ablation" of ``make bench`` has
    both.
    """
    turns = x / (2 * pi)
    rest = turns - jnp.round(turns)
    square = rest * rest
    value = jnp.full_like(x, COEFFICIENTS[-1])
    for coefficient in COEFFICIENTS[-2::-1]:
        value = value * square + coefficient
    return rest * (1 - 4 * square) * value


@sine.defjvp
def _(primals: Any, tangents: Any) -> tuple[Array, Array]:
    (x,), (tangent,) = primals, tangents
    return sine(x), sine(x + pi / 2) * tangent


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "silu": jax.nn.silu,
    "gelu": jax.nn.gelu,
    "elu": jax.nn.elu,
    "softplus": jax.nn.softplus,
    "sin": sine,
}


def names_in(activation: str) -> tuple[str, ...]:
    """Return the names in an activation: ``"sin+tanh"`` has two."""
    return tuple(activation.split("+"))


def activate(activation: str, h: Array) -> Array:
    """Apply an activation to a layer; a mixture gives each name an equal share of the units."""
    names = names_in(activation)
    parts = jnp.array_split(h, len(names))
    return jnp.concatenate([ACTIVATIONS[name](part) for name, part in zip(names, parts, strict=True)])
