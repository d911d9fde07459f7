import jax.numpy as jnp
import numpy as np
import pytest

from vebnn.bench.simulators.plasticity.material import Plane
from vebnn.bench.simulators.plasticity.operators import (
    forces_of,
    solve_homogeneous,
    spectrum,
    strain_of,
)
from vebnn.bench.simulators.plasticity.solver import double_precision


def test_forces_are_the_adjoint_of_strains(rng: np.random.Generator) -> None:
    displacement, (xx, yy, xy) = rng.standard_normal((2, 6, 6)), rng.standard_normal((3, 6, 6))
    with double_precision():
        strain = strain_of(jnp.asarray(displacement))
        force = forces_of(Plane(jnp.asarray(xx), jnp.asarray(yy), jnp.asarray(xy)))
        inner = np.sum(xx * strain.xx + yy * strain.yy + 2 * xy * strain.xy)
        assert float(inner) == pytest.approx(float(np.sum(displacement * np.asarray(force))))


def test_strain_of_a_wave_points_the_right_way() -> None:
    """Axis 0 is direction 1: a wave along it strains 11 for longitudinal, 12 for transversal motion."""
    grid = 64
    wave = np.sin(2 * np.pi * np.arange(grid) / grid)[:, None] * np.ones(grid)
    slope = 2 * np.pi / grid * np.cos(2 * np.pi * (np.arange(grid) + 0.5) / grid)[:, None]
    with double_precision():
        along = strain_of(jnp.asarray(np.stack([wave, 0 * wave])))
        across = strain_of(jnp.asarray(np.stack([0 * wave, wave])))
    np.testing.assert_allclose(along.xx, slope * np.ones(grid), rtol=1e-3)
    np.testing.assert_allclose([along.yy, along.xy], 0, atol=1e-12)
    np.testing.assert_allclose(across.xy, slope / 2 * np.ones(grid), rtol=1e-3)


@pytest.mark.parametrize("grid", [7, 8])
def test_homogeneous_solution_is_in_balance(grid: int, rng: np.random.Generator) -> None:
    shear, lame = 3.0, 5.0
    with double_precision():
        # Forces that come from some stress have no part that no displacement could answer.
        force = forces_of(Plane(*(jnp.asarray(one) for one in rng.standard_normal((3, grid, grid)))))
        displacement = solve_homogeneous(spectrum(grid), force, shear, lame)
        xx, yy, xy = strain_of(displacement)
        pressure = lame * (xx + yy)
        stress = Plane(pressure + 2 * shear * xx, pressure + 2 * shear * yy, 2 * shear * xy)
        np.testing.assert_allclose(forces_of(stress), force, atol=1e-12)
