import numpy as np
import pytest

from vebnn.bench.simulators.plasticity import (
    MATERIALS,
    Microstructure,
    matrix_weight,
    particle_fraction,
    place_particles,
)


@pytest.mark.parametrize(("material", "particles"), [(1, 25), (2, 10)])
def test_number_of_particles_is_that_of_the_paper(material: int, particles: int) -> None:
    structure = MATERIALS[material]
    assert structure.num_particles == particles
    area = particles * np.pi * structure.radius**2 / structure.size**2
    assert 0.30 <= area < 0.32


@pytest.mark.parametrize("material", [1, 2])
def test_particles_keep_their_distance_over_the_edges(material: int, rng: np.random.Generator) -> None:
    structure = MATERIALS[material]
    for _ in range(5):
        centres = place_particles(structure, rng)
        assert centres.shape == (structure.num_particles, 2)
        assert ((centres >= 0) & (centres < structure.size)).all()
        # All nine copies of every particle, written out.
        shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        copies = np.concatenate([centres + structure.size * np.array(shift) for shift in shifts])
        distance = np.linalg.norm(copies[:, None] - centres, axis=-1)
        assert np.sort(distance.ravel())[len(centres)] >= 1.1 * 0.006


def test_all_places_are_equally_likely(rng: np.random.Generator) -> None:
    centres = np.concatenate([place_particles(MATERIALS[2], rng) for _ in range(200)])
    # 2,000 uniform numbers: the standard error of their mean is 1/√(12 · 2000).
    np.testing.assert_allclose(centres.mean(0) / 0.030, 0.5, atol=4 / np.sqrt(12 * 2_000))


def test_one_particle_on_the_corner() -> None:
    structure = Microstructure(size=1.0, radius=0.25)
    fraction = particle_fraction(structure, np.array([[0.0, 0.0]]), 16)
    assert fraction.mean() == pytest.approx(np.pi / 16, rel=1e-12)
    # It is cut into four equal quarters, and inside them pixels are wholly particle.
    np.testing.assert_allclose(fraction, fraction[::-1])
    np.testing.assert_allclose(fraction, fraction.T)
    np.testing.assert_allclose(fraction[:2, -2:], 1, rtol=0.01)
    np.testing.assert_allclose(fraction[5:11, 5:11], 0)


def test_axis_0_is_direction_1() -> None:
    structure = Microstructure(size=1.0, radius=0.1)
    fraction = particle_fraction(structure, np.array([[0.75, 0.25]]), 8)
    assert fraction[5:7, 1:3].sum() == pytest.approx(fraction.sum())


def test_weights_between_the_phases() -> None:
    np.testing.assert_allclose(matrix_weight(np.array([0.0, 0.75, 1.0])), [1, 0.125, 0])


def test_grid_must_be_a_whole_number() -> None:
    with pytest.raises(ValueError, match=r"`grid` must be a whole number of at least 4. Got 3"):
        particle_fraction(MATERIALS[1], np.zeros((1, 2)), 3)
