"""Isokinetic dynamics: the momentum keeps its length, and the path samples a microcanonical ensemble.

Robnik, De Luca, Silverstein and Seljak 2023 ("Microcanonical Hamiltonian Monte Carlo") and Robnik and
Seljak 2024 ("Fluctuation without dissipation"). With U the negative log posterior of d parameters and u
a unit vector,

    dx/dt = u,   du/dt = −(1 − u uᵀ) ∇U / (d − 1),

has x distributed as exp(−U) on a long path, whatever its energy. Random turns of u make it ergodic.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp

from vebnn.core.prng import standard_normal
from vebnn.core.types import Array, Key

# Two-stage scheme of minimal error (McLachlan 1995): kick, drift, kick, drift, kick.
_OUTER = 0.1931833275037836
_STAGES = ((_OUTER, 0.5), (1 - 2 * _OUTER, 0.5))

Potential = Callable[[Array], tuple[Array, Array]]  # position → U and its gradient


class Particle(NamedTuple):
    """A point of a path."""

    position: Array
    momentum: Array  # of length 1, in units of ``scale``; zero before it has a direction
    potential: Array  # U
    gradient: Array


def kick(momentum: Array, gradient: Array, step_size: Array) -> tuple[Array, Array]:
    """Turn the momentum down the gradient for a time; return it and the change of kinetic energy.

    The exact flow at constant ∇U. With e = −∇U/|∇U| and δ = t |∇U|/(d − 1),

        u ← (u + e (sinh δ + e·u (cosh δ − 1))) / (cosh δ + e·u sinh δ),

    and the kinetic energy (d − 1) log|p| grows by (d − 1) log(cosh δ + e·u sinh δ). Both are written
    with ζ = exp(−δ), which cannot overflow.
    """
    rate = momentum.size - 1
    length = jnp.linalg.norm(gradient)
    direction = -gradient / jnp.maximum(length, 1e-30)
    delta = step_size * length / rate
    zeta = jnp.exp(-delta)
    along = jnp.dot(direction, momentum)
    turned = direction * (1 - zeta) * (1 + zeta + along * (1 - zeta)) + 2 * zeta * momentum
    # 1 + e·u as half a squared length: not negative, whatever the rounding.
    uphill = 0.5 * jnp.sum((momentum + direction) ** 2)
    growth = delta - jnp.log(2.0) + jnp.log(uphill * (1 - zeta**2) + 2 * zeta**2)
    return turned / jnp.linalg.norm(turned), rate * growth


def move(
    potential: Potential, particle: Particle, scale: Array, step_size: Array
) -> tuple[Particle, Array]:
    """Follow the dynamics for one step of two gradients; return the error of the energy as well.

    ``scale`` has a unit of length per parameter: positions are ``scale`` times those of the dynamics.
    """
    position, momentum, value, gradient = particle
    kinetic = jnp.float32(0)
    for kick_share, drift_share in _STAGES:
        momentum, change = kick(momentum, scale * gradient, kick_share * step_size)
        kinetic = kinetic + change
        position = position + drift_share * step_size * scale * momentum
        value, gradient = potential(position)
    momentum, change = kick(momentum, scale * gradient, _OUTER * step_size)
    error = kinetic + change + value - particle.potential
    return Particle(position, momentum, value, gradient), error


def refresh(key: Key, momentum: Array, time: Array) -> Array:
    """Turn the momentum at random; after a ``time`` of 1, the memory of its direction is e⁻¹.

    With ν² = (exp(2 time) − 1)/d, u ← (u + ν z)/|u + ν z|, z standard normal. A momentum of
    zero gets a random direction.
    """
    strength = jnp.sqrt(jnp.expm1(2 * time) / momentum.size)
    turned = momentum + strength * standard_normal(key, momentum.size)
    return turned / jnp.linalg.norm(turned)
