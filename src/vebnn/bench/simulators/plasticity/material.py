"""The two materials at a point: elastic particles, and a matrix with von Mises plasticity.

Plane strain, small strain. Stresses and stiffnesses are in MPa.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp

from vebnn.core.types import Array

HARDENING_EXPONENT = 0.4  # fixed in the code, which solves for p^0.4: see `_hardened`
_SQRT_3_2 = 1.5**0.5
_NEWTON_ITERATIONS = 5  # enough for all digits
_TINY = 1e-30


@dataclass(frozen=True)
class Elastic:
    """An isotropic elastic solid."""

    young: float
    poisson: float

    @property
    def shear(self) -> float:
        """G."""
        return self.young / (2 * (1 + self.poisson))

    @property
    def bulk(self) -> float:
        """K."""
        return self.young / (3 * (1 - 2 * self.poisson))

    @property
    def lame(self) -> float:
        """λ, Lamé's first constant."""
        return self.bulk - 2 / 3 * self.shear


@dataclass(frozen=True)
class Constituents:
    """Matrix and particles (paper, table of simulation parameters).

    The matrix yields at σ_y = ``yield_stress`` + ``hardening`` · p^0.4; p: accumulated plastic strain.
    """

    matrix: Elastic = Elastic(young=100.0, poisson=0.30)
    particle: Elastic = Elastic(young=1.0, poisson=0.19)
    yield_stress: float = 0.5
    hardening: float = 0.5

    @property
    def yield_strain(self) -> float:
        """Equivalent strain at first yield, σ_y / 3G."""
        return self.yield_stress / (3 * self.matrix.shear)


class Plane(NamedTuple):
    """The components of a symmetric tensor in the plane."""

    xx: Array
    yy: Array
    xy: Array


class Stress(NamedTuple):
    """A stress under plane strain; zz is not zero."""

    xx: Array
    yy: Array
    xy: Array
    zz: Array


class History(NamedTuple):
    """Internal variables of the matrix."""

    plastic_strain: Plane  # its zz component is −xx − yy
    hardened: Array  # p^0.4


class Tangent(NamedTuple):
    """dσ/dε: ``lame`` tr(·) I + ``double_shear`` (·) − ``softening`` n (n : ·)."""

    lame: Array
    double_shear: Array
    softening: Array
    normal: Plane


def return_mapping(
    strain: Plane, history: History, constituents: Constituents
) -> tuple[Stress, History, Tangent]:
    """Return stress, history and tangent of the matrix at the end of a step.

    Radial return (Simo and Hughes 1998, box 3.1) with its consistent tangent, so that Newton's method
    converges quadratically. ``strain`` is the total at the end of the step, ``history`` at its start.
    """
    shear, bulk = constituents.matrix.shear, constituents.matrix.bulk
    plastic = history.plastic_strain
    trace = strain.xx + strain.yy
    # Deviator of the trial elastic strain: as if the step were elastic.
    xx = strain.xx - trace / 3 - plastic.xx
    yy = strain.yy - trace / 3 - plastic.yy
    zz = -(xx + yy)
    xy = strain.xy - plastic.xy
    size = jnp.sqrt(xx**2 + yy**2 + zz**2 + 2 * xy**2)
    trial = 2 * shear * _SQRT_3_2 * size  # von Mises stress

    hardened, yields = _hardened(trial, history.hardened, constituents)
    before = _plastic_strain_of(history.hardened)
    increment = jnp.where(yields, _plastic_strain_of(hardened) - before, 0.0)
    # 1/(1 + H/3G) with H the slope of σ_y(p), which is infinite at p = 0.
    power = hardened * jnp.sqrt(hardened)
    compliance = 3 * shear * power / (constituents.hardening * HARDENING_EXPONENT)
    slope_factor = compliance / (1 + compliance)

    inverse = 1 / jnp.maximum(size, _TINY)
    normal = Plane(xx * inverse, yy * inverse, xy * inverse)
    flow = _SQRT_3_2 * increment
    double_shear = 2 * shear * (1 - 3 * shear * increment / jnp.maximum(trial, _TINY))
    pressure = bulk * trace
    stress = Stress(
        pressure + double_shear * xx,
        pressure + double_shear * yy,
        double_shear * xy,
        pressure + double_shear * zz,
    )
    flowed = Plane(*(old + flow * part for old, part in zip(plastic, normal, strict=True)))
    softening = jnp.where(yields, double_shear - 2 * shear * (1 - slope_factor), 0.0)
    tangent = Tangent(bulk - double_shear / 3, double_shear, softening, normal)
    return stress, History(flowed, jnp.where(yields, hardened, history.hardened)), tangent


def _hardened(trial: Array, before: Array, constituents: Constituents) -> tuple[Array, Array]:
    """Return x = p^0.4 at the end of a plastic step, and where the step is plastic.

    The yield condition q − 3G (p − p₀) = σ_y(p) is solved for x, because the slope of p^0.4 is infinite
    at 0: 3G x^2.5 + a x = q − s₀ + 3G p₀. The left side is convex and increasing, so Newton's method
    descends to the root from any start above it; dropping either term on the left gives such a start.
    """
    triple_shear, slope = 3 * constituents.matrix.shear, constituents.hardening
    excess = trial - constituents.yield_stress
    yields = excess > slope * before
    target = jnp.maximum(excess + triple_shear * _plastic_strain_of(before), _TINY)
    x = jnp.minimum(target / slope, (target / triple_shear) ** HARDENING_EXPONENT)
    for _ in range(_NEWTON_ITERATIONS):
        power = x * jnp.sqrt(x)
        excess_here = triple_shear * power * x + slope * x - target
        x = jnp.maximum(x - excess_here / (2.5 * triple_shear * power + slope), before)
    return x, yields


def _plastic_strain_of(hardened: Array) -> Array:
    """Return p = x^2.5, without the logarithms of a general power."""
    return hardened * hardened * jnp.sqrt(hardened)


def apply_tangent(tangent: Tangent, strain: Plane) -> Plane:
    """Return dσ/dε : strain, in the plane."""
    normal = tangent.normal
    pressure = tangent.lame * (strain.xx + strain.yy)
    along = normal.xx * strain.xx + normal.yy * strain.yy + 2 * normal.xy * strain.xy
    softer = tangent.softening * along
    return Plane(
        pressure + tangent.double_shear * strain.xx - softer * normal.xx,
        pressure + tangent.double_shear * strain.yy - softer * normal.yy,
        tangent.double_shear * strain.xy - softer * normal.xy,
    )


def mixed_with_particle(
    weight: Array, stress: Stress, tangent: Tangent, strain: Plane, particle: Elastic
) -> tuple[Stress, Tangent]:
    """Average stress and tangent over the two phases of every pixel; ``weight`` is the matrix's."""
    lame = (1 - weight) * particle.lame
    double_shear = (1 - weight) * 2 * particle.shear
    pressure = lame * (strain.xx + strain.yy)
    mixed = Stress(
        weight * stress.xx + pressure + double_shear * strain.xx,
        weight * stress.yy + pressure + double_shear * strain.yy,
        weight * stress.xy + double_shear * strain.xy,
        weight * stress.zz + pressure,
    )
    return mixed, Tangent(
        weight * tangent.lame + lame,
        weight * tangent.double_shear + double_shear,
        weight * tangent.softening,
        tangent.normal,
    )
