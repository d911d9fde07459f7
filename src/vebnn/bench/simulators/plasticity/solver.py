"""The response of a volume element to a strain path: one compiled program, in double precision.

Newton's method on displacements. Conjugate gradients solve for every correction, preconditioned with
the exact inverse of a homogeneous element (FFT). The residual is the root mean square of the strain by
which a homogeneous element would answer the unbalanced forces, in yield strains.
"""

from contextlib import AbstractContextManager
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from vebnn.bench.simulators.plasticity import operators
from vebnn.bench.simulators.plasticity.material import (
    Constituents,
    History,
    Plane,
    Stress,
    Tangent,
    apply_tangent,
    mixed_with_particle,
    return_mapping,
)
from vebnn.core.arguments import require_number, require_whole
from vebnn.core.types import Array

_SHORTEST_STEP = 0.05


def double_precision() -> AbstractContextManager[Any]:
    """Return a context in which JAX computes with 64 bits."""
    # Older versions of JAX keep it in jax.experimental.
    home: Any = jax if hasattr(jax, "enable_x64") else import_module("jax.experimental")
    return home.enable_x64(True)


class NotConverged(FloatingPointError):
    """A step of a path could not be solved."""


class Solver(NamedTuple):
    """Tolerances and limits of the solver. No setting needs a new compilation."""

    tolerance: float = 1e-3  # largest residual, in yield strains
    forcing: float = 0.1  # relative error that conjugate gradients leave in a Newton correction
    max_newton: int = 100  # Newton corrections per step before it counts as failed
    max_cg: int = 300  # conjugate-gradient iterations per correction

    def check(self) -> None:
        """Raise ValueError for settings out of range."""
        for name in ("tolerance", "forcing"):
            require_number(name, getattr(self, name), 0, 1)
        for name in ("max_newton", "max_cg"):
            require_whole(name, getattr(self, name), 1)


class Fields(NamedTuple):
    """The element at the end of a path, ``(grid, grid)`` each; axis 0 is direction 1."""

    stress: Stress  # MPa
    strain: Plane
    plastic_strain: np.ndarray  # accumulated, of the matrix


class Response(NamedTuple):
    """The response of an element to a path."""

    stress: np.ndarray  # (steps, 3): means of 11, 22, 12 over the element, MPa
    residual: np.ndarray  # (steps,): in yield strains
    newton_iterations: np.ndarray  # (steps,)
    cg_iterations: np.ndarray  # (steps,)
    fields: Fields


class _State(NamedTuple):
    displacement: Array
    increment: Array  # of the last step: the first guess for the next one
    history: History


class _Trial(NamedTuple):
    """A displacement, and how far it is from balance."""

    displacement: Array
    force: Array  # unbalanced
    residual: Array  # in yield strains
    stress: Stress
    history: History
    tangent: Tangent


def simulate(
    weight: np.ndarray,
    path: np.ndarray,
    solver: Solver | None = None,
    constituents: Constituents | None = None,
    *,
    name: str = "the path",
) -> Response:
    """Return the response of an element to a path of mean strains.

    Args:
      weight: ``(grid, grid)`` share of every pixel that behaves as matrix, from 0 to 1.
      path: ``(steps, 3)`` strains 11, 22, 12.
      solver: tolerances and limits.
      constituents: the two phases.
      name: of the path, for errors.

    Raises:
      NotConverged: if a step is not solved; the message names path and step.
    """
    solver, constituents = solver or Solver(), constituents or Constituents()
    solver.check()
    weight, path = _checked(weight, path)
    with double_precision():
        run = _run(weight, path, operators.spectrum(len(weight)), solver, constituents)
        response: Response = jax.tree.map(np.asarray, run)
    failed = ~(response.residual <= solver.tolerance)
    if failed.any():
        step = int(failed.argmax())
        raise NotConverged(
            f"Step {step + 1} of {name} did not converge: a residual of {response.residual[step]:.2g} "
            f"yield strains is left after {response.newton_iterations[step]} Newton iterations, and "
            f"{solver.tolerance:g} is the most. Raise `max_newton` or take more steps per path."
        )
    return response


def _checked(weight: np.ndarray, path: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    weight, path = np.asarray(weight, np.float64), np.asarray(path, np.float64)
    if weight.ndim != 2 or weight.shape[0] != weight.shape[1] or len(weight) < 4:
        raise ValueError(
            f"The `weight` must be a square of at least 4 by 4 pixels. Got shape {weight.shape}."
        )
    if not ((weight >= 0) & (weight <= 1)).all():
        raise ValueError("The `weight` must be between 0 (particle) and 1 (matrix) everywhere.")
    if path.ndim != 2 or path.shape[1] != 3 or not len(path):
        raise ValueError(f"The `path` must be (steps, 3) strains 11, 22, 12. Got shape {path.shape}.")
    if not np.isfinite(path).all():
        raise ValueError("The `path` must be finite everywhere.")
    return weight, path


@partial(jax.jit, static_argnames="constituents")
def _run(
    weight: Array, path: Array, waves: operators.Spectrum, solver: Solver, constituents: Constituents
) -> Response:
    try_ = partial(_try, weight=weight, waves=waves, constituents=constituents)
    zero, at_rest = jnp.zeros_like(weight), jnp.zeros((2, *weight.shape))
    unloaded = _State(at_rest, at_rest, History(Plane(zero, zero, zero), zero))

    def step(state: _State, mean_strain: Array) -> tuple[_State, Any]:
        attempt = partial(try_, mean_strain=mean_strain, history=state.history)
        # Two starts: the last increment once more or, where a path turns, none.
        onward, still = attempt(state.displacement + state.increment), attempt(state.displacement)
        better = onward.residual < still.residual
        start = jax.tree.map(partial(jnp.where, better), onward, still)
        solved, newton, cg = _newton(start, attempt, waves, solver)
        # NaN after a failed step: the loops of all later steps then end at once.
        good = jnp.where(solved.residual <= solver.tolerance, 1.0, jnp.nan)
        displacement = good * solved.displacement
        after = _State(displacement, displacement - state.displacement, solved.history)
        mean_stress = good * jnp.stack([jnp.mean(part) for part in solved.stress[:3]])
        return after, (mean_stress, solved.residual, newton, cg)

    last, (stress, residual, newton, cg) = lax.scan(step, unloaded, path)
    # From the history at the end of the last step nothing flows any more.
    end = try_(last.displacement, mean_strain=path[-1], history=last.history)
    strain = _strain(last.displacement, path[-1])
    fields = Fields(end.stress, strain, end.history.hardened**2.5)
    return Response(stress, residual, newton, cg, fields)


def _strain(displacement: Array, mean_strain: Array) -> Plane:
    fluctuation = operators.strain_of(displacement)
    return Plane(*(part + mean_strain[number] for number, part in enumerate(fluctuation)))


def _try(
    displacement: Array,
    *,
    mean_strain: Array,
    history: History,
    weight: Array,
    waves: operators.Spectrum,
    constituents: Constituents,
) -> _Trial:
    strain = _strain(displacement, mean_strain)
    stress, after, tangent = return_mapping(strain, history, constituents)
    stress, tangent = mixed_with_particle(weight, stress, tangent, strain, constituents.particle)
    force = -operators.forces_of(Plane(*stress[:3]))
    shear = constituents.matrix.shear
    missing = operators.solve_homogeneous(waves, force, shear, constituents.matrix.lame)
    # The missing displacement does work 2G |missing strain|² in a nearly incompressible solid.
    square = jnp.vdot(force, missing) / (2 * shear * weight.size)
    residual = jnp.sqrt(square) / constituents.yield_strain
    return _Trial(displacement, force, residual, stress, after, tangent)


def _newton(
    trial: _Trial, attempt: Any, waves: operators.Spectrum, solver: Solver
) -> tuple[_Trial, Array, Array]:
    """Correct a trial until it is in balance; return it and the numbers of iterations."""

    def unsolved(carry: tuple[_Trial, Array, Array]) -> Array:
        trial, newton, _ = carry
        return (trial.residual > solver.tolerance) & (newton < solver.max_newton)

    def correct(carry: tuple[_Trial, Array, Array]) -> tuple[_Trial, Array, Array]:
        trial, newton, cg = carry
        # No more accurate than the step as a whole has to be.
        reduction = jnp.maximum(solver.forcing, 0.5 * solver.tolerance / trial.residual)
        correction, iterations = _conjugate_gradients(trial, waves, reduction, solver.max_cg)
        return _line_search(trial, correction, attempt), newton + 1, cg + iterations

    return lax.while_loop(unsolved, correct, (trial, jnp.int32(0), jnp.int32(0)))


def _line_search(trial: _Trial, correction: Array, attempt: Any) -> _Trial:
    """Add a correction; halve it while the residual is larger than before."""

    def worse(carry: tuple[_Trial, Array]) -> Array:
        new, length = carry
        return (new.residual > trial.residual) & (length > _SHORTEST_STEP)

    def halve(carry: tuple[_Trial, Array]) -> tuple[_Trial, Array]:
        length = carry[1] / 2
        return attempt(trial.displacement + length * correction), length

    whole = attempt(trial.displacement + correction)
    return lax.while_loop(worse, halve, (whole, jnp.ones_like(trial.residual)))[0]


def _conjugate_gradients(
    trial: _Trial, waves: operators.Spectrum, reduction: Array, max_iterations: Array | int
) -> tuple[Array, Array]:
    """Solve tangent · correction = force; return the correction and the number of iterations.

    Stops by the preconditioned residual, which `jax.scipy.sparse.linalg.cg` does not offer.
    """
    tangent = trial.tangent
    # A homogeneous reference with the mean tangent of the element.
    shear = jnp.mean(tangent.double_shear - 0.5 * tangent.softening) / 2
    precondition = partial(operators.solve_homogeneous, waves, shear=shear, lame=jnp.mean(tangent.lame))
    first = precondition(trial.force)
    work = jnp.vdot(trial.force, first)

    def unsolved(carry: tuple[Array, ...]) -> Array:
        return (carry[3] > reduction**2 * work) & (carry[4] < max_iterations)

    def improve(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        solution, left, direction, work, iteration = carry
        image = operators.forces_of(apply_tangent(tangent, operators.strain_of(direction)))
        length = work / jnp.vdot(direction, image)
        solution, left = solution + length * direction, left - length * image
        preconditioned = precondition(left)
        new_work = jnp.vdot(left, preconditioned)
        direction = preconditioned + new_work / work * direction
        return solution, left, direction, new_work, iteration + 1

    start = jnp.zeros_like(first), trial.force, first, work, jnp.int32(0)
    solution, *_, iterations = lax.while_loop(unsolved, improve, start)
    return solution, iterations
