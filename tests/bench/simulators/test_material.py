import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import qmc

from tests.support.one_point import matrix_point
from vebnn.bench.simulators.plasticity.material import (
    Constituents,
    Elastic,
    History,
    Plane,
    apply_tangent,
    return_mapping,
)
from vebnn.bench.simulators.plasticity.paths import strain_paths
from vebnn.bench.simulators.plasticity.solver import double_precision

LAW = Constituents()


def plane(columns: np.ndarray) -> Plane:
    return Plane(*(jnp.asarray(column) for column in columns))


def fresh(shape: tuple[int, ...]) -> History:
    zero = jnp.zeros(shape)
    return History(Plane(zero, zero, zero), zero)


def test_moduli_by_hand() -> None:
    steel = Elastic(young=260.0, poisson=0.3)
    assert steel.shear == pytest.approx(100)
    assert steel.bulk == pytest.approx(260 / 1.2)
    # Lamé's constant is Eν/((1+ν)(1−2ν)).
    assert steel.lame == pytest.approx(260 * 0.3 / (1.3 * 0.4))


def test_path_at_one_point_against_tensors_and_a_bracketing_root_finder(
    rng: np.random.Generator,
) -> None:
    path = strain_paths(1, 25, rng)[0]
    point = matrix_point()
    with double_precision():
        history = fresh(())
        for strain in path:
            stress, history, _ = return_mapping(plane(strain), history, LAW)
            np.testing.assert_allclose(stress, point.stress(strain, commit=True), atol=1e-12)
        assert float(history.hardened) ** 2.5 == pytest.approx(point.p, rel=1e-12)
    assert point.p > 0.01


def test_stress_stays_on_or_inside_the_yield_surface(rng: np.random.Generator) -> None:
    with double_precision():
        strain = plane(0.02 * rng.standard_normal((3, 1_000)))
        stress, history, _ = return_mapping(strain, fresh((1_000,)), LAW)
        xx, yy, xy, zz = (np.asarray(part) for part in stress)
        hardened = np.asarray(history.hardened)
    mises = np.sqrt(0.5 * ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2) + 3 * xy**2)
    assert (hardened > 0).any()
    np.testing.assert_allclose(np.maximum(mises, 0.5 + 0.5 * hardened), 0.5 + 0.5 * hardened)
    np.testing.assert_allclose(mises[hardened > 0], 0.5 + 0.5 * hardened[hardened > 0])


def test_tangent_against_finite_differences(rng: np.random.Generator) -> None:
    # States of all kinds: virgin, hardly hardened, hardened; elastic and plastic steps.
    sobol = qmc.Sobol(7, seed=0).random(64).T
    hardened = np.where(sobol[6] < 0.2, 0, 0.4 * sobol[6])
    direction = rng.standard_normal((3, 64))
    step = 1e-7
    with double_precision():
        strain = 0.01 * (2 * sobol[:3] - 1)
        history = History(plane(0.004 * (2 * sobol[3:6] - 1)), jnp.asarray(hardened))
        _, after, tangent = return_mapping(plane(strain), history, LAW)
        ahead, behind = (
            np.array(return_mapping(plane(strain + sign * step * direction), history, LAW)[0][:3])
            for sign in (1, -1)
        )
        change = np.array(apply_tangent(tangent, plane(direction)))
    plastic = np.asarray(after.hardened) > hardened
    assert 10 < plastic.sum() < 60
    np.testing.assert_allclose(change, (ahead - behind) / (2 * step), rtol=1e-5, atol=1e-4)


def test_unloading_is_elastic() -> None:
    with double_precision():
        _, loaded, _ = return_mapping(plane(np.array([0.02, -0.02, 0.0])), fresh(()), LAW)
        back = plane(np.array([0.019, -0.019, 0.0]))
        stress, after, _ = return_mapping(back, loaded, LAW)
        further, _, _ = return_mapping(plane(np.array([0.0185, -0.0185, 0.0])), loaded, LAW)
    assert float(after.hardened) == float(loaded.hardened)
    assert float(stress.xx - further.xx) == pytest.approx(2 * LAW.matrix.shear * 0.0005)
