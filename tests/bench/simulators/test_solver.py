import jax
import numpy as np
import pytest
from scipy.optimize import fsolve

from tests.support.one_point import matrix_point, particle_point, response
from vebnn.bench.simulators.plasticity import (
    NotConverged,
    Response,
    Solver,
    simulate,
    strain_paths,
)

GRID, STEPS = 8, 20
TIGHT = Solver(tolerance=1e-9, forcing=0.01)


@pytest.fixture(scope="module")
def path() -> np.ndarray:
    return strain_paths(1, STEPS, np.random.default_rng(3))[0]


@pytest.fixture(scope="module")
def weight() -> np.ndarray:
    """Pixels of both phases and of all mixtures, without any symmetry."""
    return np.clip(np.random.default_rng(4).uniform(-0.5, 1.7, (GRID, GRID)), 0, 1)


@pytest.fixture(scope="module")
def reference(weight: np.ndarray, path: np.ndarray) -> Response:
    return simulate(weight, path, TIGHT)


@pytest.mark.parametrize("phase", [matrix_point, particle_point])
def test_homogeneous_element_is_one_point(phase, path: np.ndarray) -> None:
    found = simulate(np.full((GRID, GRID), float(phase is matrix_point)), path)
    wanted = response(phase(), path)
    np.testing.assert_allclose(found.stress, wanted[:, :3], rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.fields.stress.zz, np.full((GRID, GRID), wanted[-1, 3]), atol=1e-10)
    assert np.abs(wanted).max() > 0.01


def laminate(path: np.ndarray, normal: int, share: float) -> np.ndarray:
    """Solve for the jump of strain between two layers by its definition: tractions are equal.

    ``share`` is that of the particle's material; in-plane strain along the layers has no jump.
    """
    soft, hard = particle_point(), matrix_point()
    jump, stresses = np.zeros(2), []
    for mean in path:

        def strains(jump: np.ndarray, mean: np.ndarray = mean) -> tuple[np.ndarray, np.ndarray]:
            whole = np.zeros(3)
            whole[normal], whole[2] = jump
            return mean + (1 - share) * whole, mean - share * whole

        def traction_jump(jump: np.ndarray) -> np.ndarray:
            inner, outer = strains(jump)
            return (soft.stress(inner) - hard.stress(outer))[[normal, 2]]

        # It cannot do better than the last digit, and says so; the residual decides.
        jump, *_ = fsolve(traction_jump, jump, xtol=1e-14, full_output=True)
        assert np.abs(traction_jump(jump)).max() < 1e-12
        inner, outer = strains(jump)
        mixed = share * soft.stress(inner, commit=True) + (1 - share) * hard.stress(outer, commit=True)
        stresses.append(mixed)
    assert hard.p > 0.01
    return np.array(stresses)[:, :3]


@pytest.mark.parametrize("normal", [0, 1])
def test_elastoplastic_laminate(normal: int, path: np.ndarray) -> None:
    weight = np.ones((GRID, GRID))
    weight[:3] = 0
    found = simulate(weight if normal == 0 else weight.T, path, TIGHT)
    np.testing.assert_allclose(found.stress, laminate(path, normal, 3 / 8), rtol=0, atol=1e-9)


def test_swapped_axes(reference: Response, weight: np.ndarray, path: np.ndarray) -> None:
    swap = [1, 0, 2]
    found = simulate(weight.T, path[:, swap], TIGHT)
    np.testing.assert_allclose(found.stress[:, swap], reference.stress, atol=1e-9)


def test_translation(reference: Response, weight: np.ndarray, path: np.ndarray) -> None:
    found = simulate(np.roll(weight, (3, 5), (0, 1)), path, TIGHT)
    np.testing.assert_allclose(found.stress, reference.stress, atol=1e-9)
    shifted = np.roll(reference.fields.stress.xx, (3, 5), (0, 1))
    np.testing.assert_allclose(found.fields.stress.xx, shifted, atol=1e-6)


def test_sign(reference: Response, weight: np.ndarray, path: np.ndarray) -> None:
    np.testing.assert_allclose(simulate(weight, -path, TIGHT).stress, -reference.stress, atol=1e-9)


def test_mirror(reference: Response, weight: np.ndarray, path: np.ndarray) -> None:
    shear_turns = np.array([[1.0, 1.0, -1.0]])
    found = simulate(weight[::-1], path * shear_turns, TIGHT)
    np.testing.assert_allclose(found.stress * shear_turns, reference.stress, atol=1e-9)


def test_hill_mandel(reference: Response, path: np.ndarray) -> None:
    """Mean work in the element is the work of the means."""
    (xx, yy, xy, _), strain = reference.fields.stress, reference.fields.strain
    inside = np.mean(xx * strain.xx + yy * strain.yy + 2 * xy * strain.xy)
    outside = reference.stress[-1] @ (path[-1] * [1, 1, 2])
    assert inside == pytest.approx(outside, rel=1e-7)
    # It would not hold for any fields: strains vary, and their mean is the one that was asked for.
    assert np.std(strain.xx) > 0.1 * np.abs(path[-1, 0])
    np.testing.assert_allclose([part.mean() for part in strain], path[-1], atol=1e-12)


def test_fields_belong_to_the_last_step(reference: Response) -> None:
    means = [part.mean() for part in reference.fields.stress[:3]]
    np.testing.assert_allclose(means, reference.stress[-1], atol=1e-9)


def test_default_tolerance_is_good_enough(
    reference: Response, weight: np.ndarray, path: np.ndarray
) -> None:
    found = simulate(weight, path)
    assert found.residual.max() <= 1e-3
    assert found.residual.max() > TIGHT.tolerance
    error = np.abs(found.stress - reference.stress).max()
    assert 0 < error < 1e-3 * np.abs(reference.stress).max()


def test_stiffness_lies_between_the_bounds(weight: np.ndarray) -> None:
    """A tiny strain is elastic: Voigt's bound is above, and the soft phase alone is below."""
    tiny = np.zeros((STEPS, 3))
    tiny[:, 2] = 1e-5 * np.arange(1, STEPS + 1)
    shear = simulate(weight, tiny, TIGHT).stress[-1, 2] / (2 * tiny[-1, 2])
    matrix, particle = matrix_point().shear, particle_point().shear
    voigt = weight.mean() * matrix + (1 - weight.mean()) * particle
    assert particle < shear < voigt


def test_the_same_again_to_the_last_digit(
    reference: Response, weight: np.ndarray, path: np.ndarray
) -> None:
    np.testing.assert_array_equal(simulate(weight, path, TIGHT).stress, reference.stress)


def test_rest_of_the_library_stays_in_single_precision(reference: Response) -> None:
    assert reference.stress.dtype == np.float64
    assert jax.numpy.zeros(1).dtype == np.float32


def test_step_that_does_not_converge_is_an_error(weight: np.ndarray, path: np.ndarray) -> None:
    hurried = Solver(max_newton=1)
    with pytest.raises(NotConverged) as caught:
        simulate(weight, path, hurried, name="training path 7 on SVE 3")
    sentence = str(caught.value)
    assert "Step 1 of training path 7 on SVE 3 did not converge" in sentence
    assert "`max_newton`" in sentence


def test_a_failure_in_the_middle_names_its_step(weight: np.ndarray, path: np.ndarray) -> None:
    calm = 1e-7 * path  # elastic, and solved by one correction
    calm[12:] = path[12:]
    with pytest.raises(NotConverged, match="Step 13 of the path"):
        simulate(weight, calm, Solver(max_newton=1))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"weight": np.ones((8, 4))}, r"square.*Got shape \(8, 4\)"),
        ({"weight": np.ones((2, 2))}, "at least 4 by 4"),
        ({"weight": np.full((8, 8), 1.5)}, "between 0"),
        ({"weight": np.full((8, 8), np.nan)}, "between 0"),
        ({"path": np.zeros((5, 2))}, r"\(steps, 3\).*Got shape \(5, 2\)"),
        ({"path": np.zeros((0, 3))}, r"Got shape \(0, 3\)"),
        ({"path": np.full((5, 3), np.inf)}, "finite"),
        ({"solver": Solver(tolerance=0)}, "`tolerance`.*Got 0"),
        ({"solver": Solver(forcing=1)}, "`forcing`.*Got 1"),
        ({"solver": Solver(max_newton=0)}, "`max_newton`.*Got 0"),
        ({"solver": Solver(max_cg=2.5)}, r"`max_cg`.*Got 2\.5"),
    ],
)
def test_wrong_arguments(changes: dict, words: str) -> None:
    good = {"weight": np.ones((8, 8)), "path": np.zeros((5, 3))}
    with pytest.raises(ValueError, match=words):
        simulate(**(good | changes))


@pytest.mark.slow
@pytest.mark.parametrize("grid", [32, 64])
def test_finer_grids_agree_better(grid: int) -> None:
    """The error against 128 pixels falls with the grid (the table of the documentation)."""
    from vebnn.bench.simulators.plasticity import (
        MATERIALS,
        matrix_weight,
        particle_fraction,
        place_particles,
    )

    rng = np.random.default_rng(0)
    structure = MATERIALS[2]
    centres, path = place_particles(structure, rng), strain_paths(1, 100, rng)[0]
    fine, coarse = (
        simulate(matrix_weight(particle_fraction(structure, centres, pixels)), path).stress
        for pixels in (128, grid)
    )
    error = np.linalg.norm(coarse - fine) / np.linalg.norm(fine)
    assert error < {32: 0.15, 64: 0.06}[grid]
